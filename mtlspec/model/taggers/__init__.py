"""Taggers, one file each: from word vectors to tag scores, their loss and their decoding."""
