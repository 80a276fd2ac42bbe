# cmake --install: libraries, headers, assets, a config package and files for pkg-config.
#
#   find_package(av_fusion REQUIRED COMPONENTS nn)   -> av_fusion::nn (links oneDNN and OpenMP)
#   find_package(av_fusion REQUIRED)                 -> av_fusion::av_fusion as well
#   pkg-config --cflags --libs av_fusion_nn          or av_fusion
include(CMakePackageConfigHelpers)
set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/av_fusion")
set(headers av_fusion/core av_fusion/nn)
set(header_dir "${CMAKE_INSTALL_INCLUDEDIR}/av_fusion")

install(TARGETS av_fusion_nn_library EXPORT av_fusion_nn_targets)
install(EXPORT av_fusion_nn_targets NAMESPACE av_fusion:: DESTINATION "${config_dir}")
if(NOT AV_FUSION_NN_ONLY)
  install(TARGETS av_fusion_library EXPORT av_fusion_targets)
  install(EXPORT av_fusion_targets NAMESPACE av_fusion:: DESTINATION "${config_dir}")
  install(DIRECTORY assets/models assets/schema DESTINATION "${CMAKE_INSTALL_DATADIR}/av_fusion")
  set(headers av_fusion/)
endif()

install(DIRECTORY ${headers} DESTINATION "${header_dir}"
  FILES_MATCHING PATTERN "*.h"
  PATTERN "dnnl" EXCLUDE PATTERN "private" EXCLUDE PATTERN "*_internal.h" EXCLUDE)

configure_package_config_file(cmake/av_fusion-config.cmake.in
  "${PROJECT_BINARY_DIR}/av_fusion-config.cmake" INSTALL_DESTINATION "${config_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/av_fusion-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/av_fusion-config.cmake"
  "${PROJECT_BINARY_DIR}/av_fusion-config-version.cmake" DESTINATION "${config_dir}")

# av_fusion_pc(<name> <description> [REQUIRES <module> ...] [LINKS <flag> ...]
#              [STATIC_REQUIRES <module> ...])
#
# LINKS is what the library itself links. A shared library has it in it; who links the static one has
# to name it as well, and it stands in Libs so that nobody has to think of --static.
function(av_fusion_pc name description)
  cmake_parse_arguments(ARG "" "" "REQUIRES;LINKS;STATIC_REQUIRES" ${ARGN})
  set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  if(IS_ABSOLUTE "${pc_dir}")
    set(prefix "${CMAKE_INSTALL_PREFIX}")
  else()
    file(RELATIVE_PATH up "/prefix/${pc_dir}" "/prefix/")
    string(REGEX REPLACE "/$" "" prefix "\${pcfiledir}/${up}")  # the folder may be moved
  endif()
  cmake_path(APPEND libdir "\${prefix}" "${CMAKE_INSTALL_LIBDIR}")
  cmake_path(APPEND includedir "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}")

  set(links "-l${name}")
  set(links_private ${ARG_LINKS})
  if(NOT BUILD_SHARED_LIBS)
    list(APPEND links ${ARG_LINKS})
    list(APPEND ARG_REQUIRES ${ARG_STATIC_REQUIRES})
    set(links_private "")
  endif()
  foreach(list IN ITEMS links links_private ARG_REQUIRES)
    list(JOIN ${list} " " ${list})
  endforeach()
  configure_file(cmake/pkg_config.pc.in "${PROJECT_BINARY_DIR}/${name}.pc.in" @ONLY)
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/${name}.pc" INPUT "${PROJECT_BINARY_DIR}/${name}.pc.in")
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${pc_dir}")
endfunction()

set(openmp ${OpenMP_CXX_LIB_NAMES})
list(TRANSFORM openmp PREPEND "-l")
set(dl ${CMAKE_DL_LIBS})
list(TRANSFORM dl PREPEND "-l")
av_fusion_pc(av_fusion_nn "Multi-head attention on oneDNN"
  LINKS "-L$<TARGET_LINKER_FILE_DIR:DNNL::dnnl>" -ldnnl ${openmp} ${dl})
if(NOT AV_FUSION_NN_ONLY)
  av_fusion_pc(av_fusion "Audio-visual fusion by cross-attention"
    REQUIRES av_fusion_nn
    LINKS -lopencv_imgproc -lopencv_core
    STATIC_REQUIRES dlib-1 libavformat libavcodec libavutil libswscale libswresample)
endif()
