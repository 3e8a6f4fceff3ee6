package paged

// Size returns how many bytes the texts take, including those that have been replaced or removed
// and not yet dropped.
func (t *Texts) Size() int { return t.size }
