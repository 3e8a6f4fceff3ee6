package inventory

// buyers counts the units that each customer holds, in columns that a snapshot
// can copy at once.
type buyers struct {
	keys   []uint64 // grows only
	counts []int64
	index  map[uint64]int32
}

func newBuyers() buyers { return buyers{index: make(map[uint64]int32)} }

func (b *buyers) count(customer uint64) int64 {
	if i, ok := b.index[customer]; ok {
		return b.counts[i]
	}
	return 0
}

func (b *buyers) add(customer uint64, n int64) {
	i, ok := b.index[customer]
	if !ok {
		i = int32(len(b.keys))
		b.index[customer] = i
		b.keys = append(b.keys, customer)
		b.counts = append(b.counts, 0)
	}
	b.counts[i] += n
}

func (b *buyers) sum() int64 {
	var sum int64
	for _, n := range b.counts {
		sum += n
	}
	return sum
}
