package nodetest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/venuemap"
)

// HouseBody is the body of a venue map that has every kind of row.
func HouseBody() Object {
	return Object{
		"name": "Small hall", "canvas": Object{"width": 1000, "height": 800}, "focus": []int{500, 50},
		"sections": []Object{
			{"id": "stalls", "name": "Stalls", "rows": []Object{{"label": "A", "from": []int{200, 300}, "to": []int{800, 300}, "count": 6, "repeat": 2, "step": []int{0, 60}, "aislesAfter": []int{3}}}},
			{"id": "circle", "name": "Circle", "rows": []Object{{"label": "A", "center": []int{500, 0}, "radius": 700, "angles": []float64{110, 70}, "count": 4, "numbering": "odd", "wheelchair": []int{1}, "companion": []int{2}}}},
			{"id": "box", "name": "Box", "rows": []Object{{"label": "1", "seats": []Object{
				{"label": "1", "x": 10, "y": 10}, {"id": "best", "label": "2", "x": 20, "y": 10, "kind": "wheelchair"}, {"label": "3", "x": 40, "y": 10, "aisleBefore": true}, {"label": "4", "x": 50, "y": 10, "kind": "companion"},
			}}}},
		},
		"elements": []Object{{"type": "stage", "x": 300, "y": 20, "width": 400, "height": 80, "label": "Stage"}, {"type": "exit", "x": 0, "y": 700, "width": 50, "height": 20}},
	}
}

// SampleMap returns one of the sample venue maps in the form in which a client sends it.
func SampleMap(t testing.TB, name string) Object {
	t.Helper()
	text, err := venuemap.Samples[name]().Text()
	require.NoError(t, err)
	var body Object
	require.NoError(t, json.Unmarshal(text, &body))
	return body
}

// VenuesPath is the path at which organizers manage venue maps.
const VenuesPath = "/organizer/venues"
