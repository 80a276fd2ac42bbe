# cmake -DROOT=<source tree> -DREADME=<file> -P readme_quotes.cmake
#
# Fails unless each program of apps/examples stands in the README as a block of C++, to the letter and
# without its copyright line.
cmake_minimum_required(VERSION 3.25)
file(READ "${README}" readme)
file(GLOB examples "${ROOT}/apps/examples/*.cc")
if(NOT examples)
  message(FATAL_ERROR "no examples under ${ROOT}")
endif()
foreach(example IN LISTS examples)
  file(READ "${example}" text)
  string(REGEX REPLACE "^// Copyright [^\n]*\n" "" text "${text}")
  string(FIND "${readme}" "\n```cpp\n${text}```\n" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "${README} does not quote ${example} as it is")
  endif()
endforeach()
