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

# av_fusion_pc(<name> <description> REQUIRES <modules> LINKS <flags>): what the library needs itself is
# private to a shared library; who links a static one has to link it too, without asking for --static.
function(av_fusion_pc name description)
  cmake_parse_arguments(ARG "" "" "REQUIRES;REQUIRES_PRIVATE;LINKS" ${ARGN})
  set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(prefix "${CMAKE_INSTALL_PREFIX}")
  else()
    file(RELATIVE_PATH up "/prefix/${pc_dir}" "/prefix")
    set(prefix "\${pcfiledir}/${up}")
  endif()
  foreach(kind IN ITEMS LIBDIR INCLUDEDIR)
    string(TOLOWER ${kind} variable)
    set(${variable} "\${prefix}/${CMAKE_INSTALL_${kind}}")
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
      set(${variable} "${CMAKE_INSTALL_${kind}}")
    endif()
  endforeach()
  list(JOIN ARG_REQUIRES ", " requires)
  list(JOIN ARG_REQUIRES_PRIVATE ", " requires_private)
  list(JOIN ARG_LINKS " " links_private)
  set(links "")
  if(NOT BUILD_SHARED_LIBS)
    set(links " ${links_private}")
    set(links_private "")
    list(JOIN ARG_REQUIRES ARG_REQUIRES_PRIVATE ", " requires)
    set(requires_private "")
  endif()
  configure_file(cmake/pkg_config.pc.in "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${pc_dir}")
endfunction()
