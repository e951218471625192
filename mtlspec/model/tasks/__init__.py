"""Task types, one file each: options, decoder, loss, decoding, metric, writer of predictions."""
