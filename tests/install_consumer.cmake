# cmake -DCASE=<nn|subdirectory|whole> -DSOURCE=<source tree> -DWORK=<scratch folder> -DCXX=<compiler>
#       [-DLAUNCHER=<ccache>] [-DSHARED=<ON|OFF>] [-DBUILD=<build tree>] -P install_consumer.cmake
#
# Builds and runs a stranger's project:
#   nn            builds av_fusion::nn alone, static or SHARED, installs it, and uses it through
#                 find_package and through pkg-config
#   subdirectory  with the source tree by add_subdirectory
#   whole         installs BUILD and uses av_fusion::nn and av_fusion::av_fusion of it in both ways
cmake_minimum_required(VERSION 3.25)
set(prefix "${WORK}/prefix")
set(moved "${WORK}/moved prefix")  # an installed tree may be moved, also to a name with a space
set(attention_weights "${SOURCE}/tests/examples/data/attention.safetensors")
set(sample "${SOURCE}/assets/samples/talking_face.mp4")

function(must_run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGV}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(configure_and_build source tree)
  must_run("${CMAKE_COMMAND}" -S "${source}" -B "${tree}" -G Ninja "-DCMAKE_CXX_COMPILER=${CXX}"
           "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" ${ARGN})
  must_run("${CMAKE_COMMAND}" --build "${tree}" --parallel 2)
endfunction()

# Installed shared libraries have no RPATH, so a place that the system does not know has to be named.
function(must_run_installed)
  file(GLOB_RECURSE pc "${moved}/*/av_fusion_nn.pc")
  cmake_path(GET pc PARENT_PATH pc_dir)
  cmake_path(GET pc_dir PARENT_PATH lib_dir)
  must_run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${pc_dir}"
           "LD_LIBRARY_PATH=${lib_dir}:$ENV{LD_LIBRARY_PATH}" ${ARGN})
  set(output "${output}" PARENT_SCOPE)
endfunction()

# A project with find_package(av_fusion); what it is not supposed to need is hidden from it.
function(use_find_package parts shared)
  set(hidden nlohmann_json)
  if(shared)
    list(APPEND hidden dnnl OpenMP OpenCV dlib PkgConfig)
  endif()
  list(TRANSFORM hidden REPLACE "(.+)" "-DCMAKE_DISABLE_FIND_PACKAGE_\\1=ON")
  configure_and_build("${SOURCE}/tests/consumer" "${WORK}/find_package_${parts}"
    -DPARTS=${parts} "-DCMAKE_PREFIX_PATH=${moved}" ${hidden})
  must_run_installed("${WORK}/find_package_${parts}/consumer" ${ARGN})
endfunction()

# One call of the compiler with what pkg-config says.
function(use_pkg_config module source)
  must_run_installed(pkg-config --cflags --libs ${module})
  separate_arguments(flags UNIX_COMMAND "${output}")
  must_run("${CXX}" -std=c++20 "${source}" -o "${WORK}/${module}_program" ${flags})
  must_run_installed("${WORK}/${module}_program" ${ARGN})
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(use_pkg_config_nn)
  use_pkg_config(av_fusion_nn "${SOURCE}/apps/examples/self_attention.cc" "${attention_weights}")
  file(READ "${SOURCE}/tests/examples/data/self_attention.txt" expected)
  if(NOT output STREQUAL expected)
    message(FATAL_ERROR "expected\n${expected}\ngot\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
if(CASE STREQUAL "subdirectory")
  configure_and_build("${SOURCE}/tests/consumer" "${WORK}/subdirectory"
    -DPARTS=nn "-DAV_FUSION_SOURCE=${SOURCE}" -DCMAKE_CXX_FLAGS=-O1)
  must_run("${WORK}/subdirectory/consumer")
elseif(CASE STREQUAL "nn")
  configure_and_build("${SOURCE}" "${WORK}/build"
    -DAV_FUSION_NN_ONLY=ON -DBUILD_SHARED_LIBS=${SHARED} -DCMAKE_CXX_FLAGS=-O1)
  must_run("${CMAKE_COMMAND}" --install "${WORK}/build" --prefix "${prefix}")
  file(RENAME "${prefix}" "${moved}")
  use_find_package(nn ${SHARED})
  use_pkg_config_nn()
else()
  must_run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")
  file(RENAME "${prefix}" "${moved}")
  use_find_package(nn ${SHARED})
  use_find_package(whole ${SHARED} "${sample}")
  use_pkg_config_nn()
  use_pkg_config(av_fusion "${SOURCE}/tests/consumer/aligner.cc" "${sample}")
  must_run_installed("${moved}/bin/av_align" --version)
endif()
file(REMOVE_RECURSE "${WORK}")
