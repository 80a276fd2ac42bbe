# cmake -DRULES=<include_rules.cmake> -DWORK=<scratch folder> -P include_rules_bite.cmake
#
# Shows that the include rule can fail: each line below is one forbidden edge in a tree of its own.
set(cases
  "core/a.h|av_fusion/nn/linear.h"
  "media/a.cc|av_fusion/features/face_box.h"
  "features/a.cc|av_fusion/media/media_reader.h"
  "nn/a.cc|opencv2/core.hpp"
  "nn/a.h|oneapi/dnnl/dnnl.hpp"
  "nn/a.h|nlohmann/json.hpp"
  "nn/a.h|av_fusion/nn/private/half_float.h"
  "model/a.h|nlohmann/json.hpp"
  "model/a.cc|oneapi/dnnl/dnnl.hpp"
  "model/a.cc|av_fusion/nn/dnnl/compat.h"
  "model/a.cc|av_fusion/nn/private/half_float.h"
  "align/a.cc|nlohmann/json.hpp"
  "align/a.cc|av_fusion/model/aligner_model.h"
  "report/a.cc|av_fusion/media/media_info.h"
  "nn/a.h|av_fusion/nn/dnnl/compat.h"
  "report/a.h|libavcodec/avcodec.h")
foreach(case IN LISTS cases)
  string(REPLACE "|" ";" case "${case}")
  list(GET case 0 file)
  list(GET case 1 header)
  file(REMOVE_RECURSE "${WORK}")
  file(WRITE "${WORK}/av_fusion/${file}" "#include <${header}>\n")
  execute_process(COMMAND "${CMAKE_COMMAND}" -DROOT=${WORK} -P "${RULES}"
                  RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE complaint)
  string(FIND "${complaint}" "include rule broken" found)
  string(FIND "${complaint}" "${header}" named)
  if(result EQUAL 0 OR found EQUAL -1 OR named EQUAL -1)
    message(FATAL_ERROR "the rule let ${file} include ${header}: ${complaint}")
  endif()
endforeach()
file(REMOVE_RECURSE "${WORK}")
