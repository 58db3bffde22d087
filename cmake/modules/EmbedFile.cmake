# Writes the bytes of a file as numbers that a C++ array can include:
# cmake -DINPUT=FILE -DOUTPUT=FILE -P EmbedFile.cmake. Without INPUT, there are none.
set(numbers "")
if(INPUT)
  file(READ "${INPUT}" numbers HEX)
  string(REGEX REPLACE "(..)" "0x\\1," numbers "${numbers}")
  # A few in a line: some tools that read sources do not like long ones.
  string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" numbers "${numbers}")
endif()
file(WRITE "${OUTPUT}" "${numbers}\n")
