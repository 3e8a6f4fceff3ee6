package enginetest

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/proceeds"
	"boxoffice/engine/seatmap"
)

// Epoch is the wall clock at the start of every story and of every simulation. It is fixed, so that a transcript
// has the same times in every run.
var Epoch = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// CommandName returns a command's name, such as "Reserve". Two commands of seat maps have names of their own, because
// other kinds use theirs too.
func CommandName(c engine.Command) string {
	switch c.(type) {
	case seatmap.Release:
		return "Drop" // to tell it from a keeper's Release
	case seatmap.Get:
		return "GetSeats"
	}
	return reflect.TypeOf(c).Name()
}

// volatileName returns the name of a fact that is not journaled, such as "line granted". Such a fact stands in no
// list of names, so its Go type gives the name.
func volatileName(f engine.Fact) string {
	switch f.(type) {
	case *proceeds.Told:
		return "proceeds told"
	case *proceeds.Heard:
		return "proceeds heard"
	}
	return splitName(strings.TrimSuffix(reflect.TypeOf(f).Elem().Name(), "Fact"))
}

// OrderName returns a short name of an order, made of its number.
func OrderName(id engine.OrderID) string { return fmt.Sprintf("o%d", id.Number()) }

// ClaimName returns a short name of a claim: its order, and the two halves of its serial.
func ClaimName(c keeper.Claim) string {
	return fmt.Sprintf("%s@%d.%d", OrderName(c.Order), c.Serial.Epoch(), uint32(c.Serial))
}
