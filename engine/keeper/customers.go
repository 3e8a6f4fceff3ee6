package keeper

import (
	"slices"

	"boxoffice/engine/paged"
)

// Customers counts the units that each customer holds, in columns that a snapshot can
// copy at once. NewCustomers makes one.
type Customers struct {
	keys   []uint64 // grows only
	counts []int64
	index  map[uint64]int32
}

// NewCustomers counts nothing yet.
func NewCustomers() Customers { return Customers{index: make(map[uint64]int32)} }

// Count is how many units a customer holds.
func (c *Customers) Count(customer uint64) int64 {
	if i, ok := c.index[customer]; ok {
		return c.counts[i]
	}
	return 0
}

// Add gives a customer n units more, or less.
func (c *Customers) Add(customer uint64, n int64) {
	i, ok := c.index[customer]
	if !ok {
		i = int32(len(c.keys))
		c.index[customer] = i
		c.keys = append(c.keys, customer)
		c.counts = append(c.counts, 0)
	}
	c.counts[i] += n
}

// Sum is how many units all customers hold.
func (c *Customers) Sum() int64 {
	var sum int64
	for _, n := range c.counts {
		sum += n
	}
	return sum
}

// Freeze returns the columns for a snapshot.
func (c *Customers) Freeze() (keys paged.Column[uint64], counts paged.Column[int64]) {
	return slices.Clip(c.keys), slices.Clone(c.counts)
}

// ThawCustomers is what the columns of a snapshot say. They are of one length.
func ThawCustomers(keys paged.Column[uint64], counts paged.Column[int64]) Customers {
	c := Customers{keys: keys, counts: counts, index: make(map[uint64]int32, len(keys))}
	for i, k := range keys {
		c.index[k] = int32(i)
	}
	return c
}
