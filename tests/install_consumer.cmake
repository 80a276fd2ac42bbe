# cmake -DBUILD=<build tree> -DSOURCE=<source tree> -DWORK=<scratch folder> -P install_consumer.cmake
#
# Installs the build into WORK and builds and runs a stranger's project against it.
function(must_run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGV} failed:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
must_run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
foreach(attention_only IN ITEMS ON OFF)
  set(tree "${WORK}/consumer_${attention_only}")
  must_run("${CMAKE_COMMAND}" -S "${SOURCE}/tests/consumer" -B "${tree}" -G Ninja
           -DATTENTION_ONLY=${attention_only} "-DCMAKE_PREFIX_PATH=${WORK}/prefix")
  must_run("${CMAKE_COMMAND}" --build "${tree}")
  must_run("${tree}/consumer" "${SOURCE}/assets/samples/talking_face.mp4")
endforeach()
file(REMOVE_RECURSE "${WORK}")
