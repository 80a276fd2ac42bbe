# cmake -DROOT=<source tree> -P include_rules.cmake
#
# Reads every #include line under av_fusion/ and apps/ and fails on an edge that the architecture does
# not have: a room that includes a room it must not know, third-party headers outside of their room, or
# anything private or third-party in a header that is installed.

cmake_minimum_required(VERSION 3.25)

# Room -> the rooms it may include, besides itself.
set(may_core "")
set(may_media core)
set(may_features core media)
set(may_nn core)
set(may_model core nn)
set(may_align core model)
set(may_report core align)
set(may_top core media features nn model align report)

# The only headers that a room may take from these neighbours.
set(only_features_media "av_fusion/media/(video_frame|audio_clip)\\.h")
set(only_align_model "av_fusion/model/sync_evidence\\.h")

# Third-party header pattern -> the rooms that may include it.
set(third_party "libav[a-z]+/|libsw[a-z]+/" media
                "opencv2?/|dlib/" features
                "oneapi/|dnnl|omp\\.h" nn
                "nlohmann/" "nn|model|report"
                "CLI/" apps)

set(errors "")

function(complain file header why)
  set(errors "${errors}\n  ${file}: <${header}>: ${why}" PARENT_SCOPE)
endfunction()

# Installed: every header except those in private folders and *_internal.h.
function(is_private path result)
  if(path MATCHES "/(dnnl|private)/|_internal\\.h$")
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

file(GLOB_RECURSE files RELATIVE "${ROOT}" "${ROOT}/av_fusion/*.h" "${ROOT}/av_fusion/*.cc"
     "${ROOT}/apps/*.h" "${ROOT}/apps/*.cc")
list(LENGTH files count)
if(count EQUAL 0)
  message(FATAL_ERROR "no sources under ${ROOT}")
endif()

foreach(file IN LISTS files)
  if(file MATCHES "^apps/")
    set(room apps)
  elseif(file MATCHES "^av_fusion/([a-z]+)/")
    set(room ${CMAKE_MATCH_1})
  else()
    set(room top)
  endif()
  is_private("${file}" file_is_private)
  set(installed FALSE)
  if(file MATCHES "^av_fusion/.*\\.h$" AND NOT file_is_private)
    set(installed TRUE)
  endif()

  file(STRINGS "${ROOT}/${file}" lines REGEX "^[ \t]*#[ \t]*include")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "[<\"]([^>\"]+)[>\"]")
      continue()
    endif()
    set(header "${CMAKE_MATCH_1}")

    if(header MATCHES "^av_fusion/")
      is_private("${header}" header_is_private)
      if(header_is_private AND installed)
        complain("${file}" "${header}" "an installed header includes a private one")
      endif()
      if(room STREQUAL apps)
        if(header_is_private)
          complain("${file}" "${header}" "apps use installed headers only")
        endif()
        continue()
      endif()
      if(header MATCHES "^av_fusion/([a-z]+)/")
        set(other ${CMAKE_MATCH_1})
      else()
        set(other top)
      endif()
      if(NOT other STREQUAL room)
        if(NOT other IN_LIST may_${room})
          complain("${file}" "${header}" "${room} must not know ${other}")
        elseif(DEFINED only_${room}_${other} AND NOT header MATCHES "^${only_${room}_${other}}$")
          complain("${file}" "${header}" "${room} may take only ${only_${room}_${other}} from ${other}")
        elseif(header_is_private)
          complain("${file}" "${header}" "private to ${other}")
        endif()
      endif()
      continue()
    endif()

    list(LENGTH third_party length)
    math(EXPR last "${length} - 1")
    foreach(i RANGE 0 ${last} 2)
      math(EXPR j "${i} + 1")
      list(GET third_party ${i} pattern)
      list(GET third_party ${j} owner)
      if(header MATCHES "^(${pattern})")
        if(installed)
          complain("${file}" "${header}" "third-party header in an installed header")
        elseif(NOT room STREQUAL apps AND NOT room MATCHES "^(${owner})$")
          complain("${file}" "${header}" "only ${owner} may include this")
        endif()
      endif()
    endforeach()
  endforeach()
endforeach()

if(errors)
  message(FATAL_ERROR "include rule broken:${errors}")
endif()
message(STATUS "include rule holds in ${count} files")
