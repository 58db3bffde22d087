#!/bin/sh
# Interesting (exit code 1) if a norm's result is used by a product.
llmir-opt "$1" 2>/dev/null | tr '\n' ' ' |
  grep -q '%\([0-9]*\) = llm.rms_norm.*llm.mul %\1,' && exit 1
exit 0
