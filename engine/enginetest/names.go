package enginetest

import (
	"fmt"
	"reflect"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/seatmap"
)

// Epoch is the wall clock at the start of every story and of every simulation.
var Epoch = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// CommandName returns a command's name, e.g. "Reserve".
func CommandName(c engine.Command) string {
	switch c.(type) {
	case seatmap.Release:
		return "Drop" // to tell it from a keeper's Release
	case seatmap.Get:
		return "GetSeats"
	}
	return reflect.TypeOf(c).Name()
}

// OrderName returns a short name of an order, made of its number.
func OrderName(id engine.OrderID) string { return fmt.Sprintf("o%d", id.Number()) }
