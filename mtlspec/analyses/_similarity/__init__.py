"""How alike tasks are: by what their models make of the same sentences, and by how well models transfer."""
