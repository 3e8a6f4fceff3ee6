package paged

// Size is how many bytes the texts take, with those that have been replaced or
// removed and not been let go.
func (t *Texts) Size() int { return t.size }
