# cmake --install: libraries, headers, assets and a config package.
#
#   find_package(av_fusion REQUIRED COMPONENTS nn)   -> av_fusion::nn (needs oneDNN alone)
#   find_package(av_fusion REQUIRED)                 -> av_fusion::av_fusion as well
include(CMakePackageConfigHelpers)
set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/av_fusion")

install(TARGETS av_fusion_nn_library EXPORT av_fusion_nn_targets)
install(EXPORT av_fusion_nn_targets NAMESPACE av_fusion:: DESTINATION "${config_dir}")
if(NOT AV_FUSION_NN_ONLY)
  install(TARGETS av_fusion_library EXPORT av_fusion_targets)
  install(EXPORT av_fusion_targets NAMESPACE av_fusion:: DESTINATION "${config_dir}")
  install(DIRECTORY assets/models assets/schema DESTINATION "${CMAKE_INSTALL_DATADIR}/av_fusion")
endif()

install(DIRECTORY av_fusion DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h"
  PATTERN "dnnl" EXCLUDE PATTERN "private" EXCLUDE PATTERN "*_internal.h" EXCLUDE)

configure_package_config_file(cmake/av_fusion-config.cmake.in
  "${PROJECT_BINARY_DIR}/av_fusion-config.cmake" INSTALL_DESTINATION "${config_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/av_fusion-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/av_fusion-config.cmake"
  "${PROJECT_BINARY_DIR}/av_fusion-config-version.cmake" DESTINATION "${config_dir}")
