# cmake -DEXPECTED=<text file> -P expect_output.cmake -- <command> [<argument> ...]
#
# Runs the command and fails unless it succeeds and prints exactly the text.
cmake_minimum_required(VERSION 3.25)
set(command "")
set(past_dashes FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(past_dashes)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(past_dashes TRUE)
  endif()
endforeach()

execute_process(COMMAND ${command}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE problems)
file(READ "${EXPECTED}" expected)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${command}: ${result}\n${output}${problems}")
elseif(NOT output STREQUAL expected)
  message(FATAL_ERROR "expected\n${expected}\ngot\n${output}")
endif()
