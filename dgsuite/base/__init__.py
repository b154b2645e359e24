"""What all else stands on: errors, files, compiling, values that threads share. It knows no graphs."""
