"""Layer kinds: what an annotation can be, one file a kind; `mtlspec.data.layer_kinds` finds them."""
