"""Files to translate: each format gives the texts of a file, and the file again with their translations."""
