// No code: this target stands for the programs that it depends on.
