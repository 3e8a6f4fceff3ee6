package route

import "reflect"

// NotYet declares a member of a body that clients may know from the API's specification, but that
// this release does not support. A request with such a member is refused, because otherwise we would
// carry it out as if the member were absent. null and the empty string are accepted and ignored. The
// OpenAPI document does not show the member.
//
//	_ route.NotYet `name:"promoCode"`
type NotYet struct{}

var notYetType = reflect.TypeFor[NotYet]()

// notYet refuses the member.
func notYet(d *decoder, _ reflect.Value) error {
	raw, err := d.json.ReadValue()
	if err == nil && string(raw) != `""` {
		d.reportIssue(problem{IssueUnsupported, "is not supported yet"})
	}
	return err
}

// addNotYet compiles a field that declares such a member.
func (o *object) addNotYet(where string, f reflect.StructField, index []int) {
	name := f.Tag.Get("name")
	if f.Name != "_" || name == "" {
		panic("route: " + where + " needs a name tag, and no name of its own")
	}
	if o.fields[name] != nil {
		panic("route: " + where + " repeats the name " + name)
	}
	o.fields[name] = &field{name: name, index: index, node: node{json: notYet}}
}
