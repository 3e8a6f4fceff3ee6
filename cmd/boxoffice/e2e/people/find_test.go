package people

import (
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestPeopleAreFound searches the three lists of people: names are found in any case, with or without
// accents, in any script, and people also by what is printed on their orders and tickets.
func TestPeopleAreFound(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, types := s.OnSale(nodetest.TypeBody(0, 100), nodetest.TypeBody(25, 100))
	names := []string{"Jürgen Müller", "Öz Yıldız", "Αλέξης Σίσυφος", "Семён Чехов", "مُحَمَّد علي", "山田太郎", "김민수", "François D'Été", "Zoë Groß"}
	s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"code": "SPRING26"})).Is(201, "")
	orders := make([]nodetest.Answer, len(names))
	for i, name := range names {
		of := types[0]
		if i == 0 {
			of = types[1]
		}
		body := nodetest.With(nodetest.OrderBody("p"+strconv.Itoa(i)+"@mail.example", of, 1), nodetest.Object{"guestName": name})
		if i == 0 {
			body["promoCode"], body["items"].([]nodetest.Object)[0]["attendeeName"] = "spring26", "Åsa Ångström"
		}
		orders[i] = s.Call("POST", "/orders", body).Is(201, "")
	}
	s.Settle(s.Checkout(orders[0].Str("id"), orders[0].Str("accessToken")), "success")
	s.Verify(orders[0].Str("id"), orders[0].Str("accessToken")).Is(200, "")
	attending(s, event, "", len(names))
	s.Customers("", len(names))
	for _, row := range []struct {
		q     string
		found []int
	}{
		{"MÜLLER", []int{0}},
		{"jürgen", []int{0}},
		{"JURGEN", []int{0}},
		{"muller jurgen", []int{0}},
		{"ürg", []int{0}},
		{"angstrom", []int{0}},
		{"Ju\u0308rgen", []int{0}},
		{"OZ", []int{1}},
		{"yildiz", []int{1}},
		{"YILDIZ", []int{1}},
		{"YILDİZ", []int{1}},
		{"ΣΊΣΥΦΟΣ", []int{2}},
		{"αλεξης", []int{2}},
		{"alexis", []int{2}},
		{"СЕМЕН", []int{3}},
		{"чехов", []int{3}},
		{"محمد", []int{4}},
		{"山田", []int{5}},
		{"太", []int{5}},
		{"김민수", []int{6}},
		{"FRANCOIS", []int{7}},
		{"d'ete", []int{7}},
		{"GROSS", []int{8}},
		{"zoe", []int{8}},
		{"p3@mail.example", []int{3}},
		{"P3@MAIL", []int{3}},
		{" p3@mail.example ", []int{3}},
		{"mail.example", []int{0, 1, 2, 3, 4, 5, 6, 7, 8}},
		{"spring26", []int{0}},
		{orders[3].Str("orderNumber"), []int{3}},
		{orders[3].Str("id"), []int{3}},
		{orders[4].Str("tickets.0.code"), []int{4}},
		{orders[5].Str("tickets.0.shortCode"), []int{5}},
		{orders[6].Str("tickets.0.id"), []int{6}},
		{"nobody", nil},
		{"%", nil},
		{"_", nil},
		{"@", nil},
		{`\`, nil},
		{"müller yıldız", nil},
	} {
		t.Log(row.q)
		var want []any
		for _, i := range row.found {
			want = append(want, "p"+strconv.Itoa(i)+"@mail.example")
		}
		q := "q=" + url.QueryEscape(row.q)
		for path, field := range map[string]string{"/organizer/events/" + event + "/attendees?": "holder.email", "/organizer/orders?": "buyer.email", "/organizer/customers?": "email"} {
			a := s.Own("GET", path+q, nil).Is(200, "")
			var got []any
			for i := range a.Data("items").([]any) {
				got = append(got, a.Data("items."+strconv.Itoa(i)+"."+field))
			}
			require.ElementsMatch(t, want, got, "%s%s", path, row.q)
		}
	}
	for code, n := range map[string]int{"SPRING26": 1, "spring26": 1, "SPRING": 0, "26": 0, "-": 0} {
		require.Len(t, s.Own("GET", "/organizer/orders?promoCode="+code, nil).Is(200, "").Data("items"), n, code)
	}
}
