// What libFuzzer gives to a target, and declares in no header of its own:
// https://llvm.org/docs/LibFuzzer.html
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Changes the bytes at random, with the dictionary and what was learnt from comparisons; gives the
/// new size, which is at most `max_size`.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
