"""What compiled loops do with the bits of a word."""

from numba.extending import intrinsic


@intrinsic
def ones(typingctx, word):
    """Number of ones in a word, by the processor's instruction."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return word(word), generate
