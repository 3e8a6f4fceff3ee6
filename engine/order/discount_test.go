package order

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// faces returns what the tickets of an order cost, in their order.
func faces(o *Order) []int64 {
	var all []int64
	for i := range o.Lines {
		for k := range o.Lines[i].Quantity {
			all = append(all, o.Lines[i].FaceValue(k))
		}
	}
	return all
}

// types returns ticket types of the order's event.
func types(numbers ...int64) (ids []engine.TypeID) {
	for _, n := range numbers {
		ids = append(ids, engine.NumberedID(7, n))
	}
	return ids
}

func discounted(terms keeper.Discount, lines ...Line) *Order {
	o := &Order{ID: engine.NumberedID(7, 1), Lines: lines, Promo: &Promo{Terms: &terms}}
	o.ApplyDiscount()
	o.SumUp(false)
	return o
}

func TestDiscounts(t *testing.T) {
	t.Parallel()
	twice := Line{Type: 1, Quantity: 2, UnitPrice: 1_999}
	dear := Line{Type: 2, Quantity: 1, UnitPrice: 5_000}
	free := Line{Type: 3, Quantity: 1}

	o := discounted(keeper.Discount{Percentage: true, Value: 1_250}, twice, dear, free)
	require.Equal(t, []int64{1_749, 1_749, 4_375, 0}, faces(o), "half up, a ticket each: 249.875 and 625")
	require.EqualValues(t, 1_125, o.Discount)
	require.Equal(t, o.Subtotal-o.Discount+o.Fees, o.Total)
	require.EqualValues(t, 2*Fee(1_749)+Fee(4_375), o.Fees, "fees are of what is left")

	o = discounted(keeper.Discount{Value: 1_000, Types: types(2)}, twice, dear)
	require.Equal(t, []int64{1_999, 1_999, 4_000}, faces(o), "on applicable types only")

	o = discounted(keeper.Discount{Value: 100_000, Types: types(1)}, twice, dear)
	require.Equal(t, []int64{0, 0, 5_000}, faces(o), "at most what they come to")

	o = discounted(keeper.Discount{Value: 100}, Line{Type: 1, Quantity: 3, UnitPrice: 1_000})
	require.Equal(t, []int64{966, 967, 967}, faces(o), "the first ticket bears what is left over")

	o = discounted(keeper.Discount{Percentage: true, Value: 10_000}, twice)
	require.Zero(t, o.Total)

	o = &Order{Lines: []Line{twice}, Promo: &Promo{Terms: &keeper.Discount{Value: 1, MinOrder: 4_000, Types: types(9)}}}
	applies, enough := o.ApplyDiscount()
	require.False(t, applies)
	require.False(t, enough)
}

// Whatever the terms and prices are, no ticket costs less than nothing or more than its price, and
// exactly the whole amount is taken off.
func TestDiscountsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Line {
			return Line{
				Type:     rapid.Int64Range(1, 4).Draw(t, "type"),
				Quantity: rapid.Int64Range(1, 100).Draw(t, "quantity"), UnitPrice: rapid.Int64Range(0, 100_000_000).Draw(t, "price"),
			}
		}), 1, 20).Draw(t, "lines")
		terms := keeper.Discount{
			Percentage: rapid.Bool().Draw(t, "percentage"), Value: rapid.Int64Range(1, 10_000).Draw(t, "value"),
			Types: types(rapid.SliceOfN(rapid.Int64Range(1, 4), 0, 3).Draw(t, "types")...),
		}
		o := discounted(terms, lines...)
		var sum, applicable int64
		for i := range o.Lines {
			l := &o.Lines[i]
			if terms.Applies(engine.NumberedID(7, l.Type)) {
				applicable += l.UnitPrice * l.Quantity
			} else if l.Discount != 0 {
				t.Fatalf("line %d is not one that the code is for", i)
			}
			for k := range l.Quantity {
				face := l.FaceValue(k)
				if face < 0 || face > l.UnitPrice {
					t.Fatalf("a ticket of %d costs %d", l.UnitPrice, face)
				}
				sum += face
			}
		}
		if sum != o.Subtotal-o.Discount {
			t.Fatalf("tickets come to %d of %d", sum, o.Subtotal-o.Discount)
		}
		if !terms.Percentage && o.Discount != min(terms.Value, applicable) {
			t.Fatalf("%d off instead of %d", o.Discount, terms.Value)
		}
	})
}
