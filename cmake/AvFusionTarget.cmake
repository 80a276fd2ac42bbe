# av_fusion_options(<target>): language level, warnings and sanitizers, for our own targets only.
function(av_fusion_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)  # GCC bug 105651: false alarms at -O3
  endif()
  if(AV_FUSION_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(AV_FUSION_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${AV_FUSION_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${AV_FUSION_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # False alarms in the standard library's own code, which the sanitizers take apart.
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-stringop-overflow)
    endif()
  endif()
endfunction()

# av_fusion_room(<name> SOURCES ... [PRIVATE_LIBS ...] [PUBLIC_LIBS ...]): one room of the house as an
# object library, so that the two shipped libraries can be put together from rooms.
function(av_fusion_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PRIVATE_LIBS;PUBLIC_LIBS" ${ARGN})
  add_library(av_fusion_${name} OBJECT ${ARG_SOURCES})
  target_include_directories(av_fusion_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)
  target_link_libraries(av_fusion_${name} PRIVATE ${ARG_PRIVATE_LIBS})
  target_link_libraries(av_fusion_${name} PUBLIC ${ARG_PUBLIC_LIBS})
  av_fusion_options(av_fusion_${name})
endfunction()

# av_fusion_shipped(<target> <name>): a library that gets installed, as lib<name>. Minor versions of 0.x
# are not compatible with each other, so both numbers are in the name that programs ask for.
function(av_fusion_shipped target name)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  av_fusion_options(${target})
endfunction()
