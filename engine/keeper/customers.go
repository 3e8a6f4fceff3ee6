package keeper

import (
	"slices"

	"boxoffice/engine/paged"
)

// Customers counts the units that each customer holds, for the caps. It keeps the counts in
// columns, which a snapshot copies quickly. NewCustomers makes one.
type Customers struct {
	keys   []uint64 // hashes of the customers; the list only grows
	counts []int64
	index  map[uint64]int32
}

// NewCustomers returns a count without any units.
func NewCustomers() Customers { return Customers{index: make(map[uint64]int32)} }

// Count returns how many units a customer holds.
func (c *Customers) Count(customer uint64) int64 {
	if i, ok := c.index[customer]; ok {
		return c.counts[i]
	}
	return 0
}

// Add adds n units to what a customer holds. n may be negative.
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

// Sum returns how many units all customers hold.
func (c *Customers) Sum() int64 {
	var sum int64
	for _, n := range c.counts {
		sum += n
	}
	return sum
}

// Freeze returns the columns for a snapshot. Keys only grow, so they are shared; counts change, so
// they are copied.
func (c *Customers) Freeze() (keys paged.Column[uint64], counts paged.Column[int64]) {
	return slices.Clip(c.keys), slices.Clone(c.counts)
}

// ThawCustomers returns the count that the columns of a snapshot describe. Both have the same
// length.
func ThawCustomers(keys paged.Column[uint64], counts paged.Column[int64]) Customers {
	c := Customers{keys: keys, counts: counts, index: make(map[uint64]int32, len(keys))}
	for i, k := range keys {
		c.index[k] = int32(i)
	}
	return c
}
