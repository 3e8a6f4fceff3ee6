package persisttest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/codec"
)

// tongues are words for titles and names of places, by language. Among them are the letters and scripts that a search
// has to fold.
var tongues = []struct{ titles, cities []string }{
	{strings.Fields("Winter Jazz Night Open Air Comedy Startup Summit Street Food Market Symphony Charity Marathon Poetry"), []string{"London", "Lagos", "Cape Town"}},
	{strings.Fields("Großes Frühlingsfest Kammermusik Weihnachtsmarkt Oktoberfest Lesung Straßenkünstler Bühne Gespräch Führung"), []string{"München", "Köln", "Zürich"}},
	{strings.Fields("Fête Théâtre Soirée Été Cinéma Musée Opéra Café Découverte Atelier Rencontre Château"), []string{"Orléans", "Genève", "Besançon"}},
	{strings.Fields("Fiesta Corazón Canción Verano Noche Teatro Niños Baile Ópera Música Exposición"), []string{"Málaga", "Bogotá", "Córdoba"}},
	{strings.Fields("Coração Canção Verão Exposição Feira Música Samba Fado Encontro Criação"), []string{"São Paulo", "Maceió", "Évora"}},
	{strings.Fields("Święto Muzyka Wieczór Spotkanie Żywioł Koncert Łódka Książka Wystawa"), []string{"Łódź", "Kraków", "Gdańsk"}},
	{strings.Fields("Gösteri Şarkı Konseri Çocuk Şenliği Buluşma Tiyatro Gecesi Güneş"), []string{"İstanbul", "Eskişehir", "Çanakkale"}},
	{strings.Fields("Вечер Концерт Музыка Театр Праздник Выставка Книги Ночь Балет"), []string{"Казань", "Пермь", "Ереван"}},
	{strings.Fields("Συναυλία Μουσική Θέατρο Νύχτα Γιορτή Έκθεση Βιβλίο Χορός"), []string{"Αθήνα", "Πάτρα", "Λάρισα"}},
	{strings.Fields("音楽 夏祭り 展覧会 劇場 花火 講演会 映画 芸術"), []string{"東京", "大阪", "京都"}},
}

// Sought are events that a search must find first, although Search has typos, no accents, or words of another field.
var Sought = []struct{ Title, tags, short, venue, city, Search string }{
	{"Beethoven: Ode an die Freude", "classical", "", "Elbphilharmonie", "Hamburg", "bethoven elbphilarmonie"},
	{"Noche de Flamenco con Niña Pastori", "", "", "Tablao", "Málaga", "nina pastori malaga"},
	{"Björk Cornucopia", "electronic", "", "Harpa", "Reykjavík", "bjork reykjavik"},
	{"Çağdaş Dans Gecesi", "", "", "Zorlu", "İstanbul", "cagdas dans istanbul"},
	{"Щелкунчик", "", "Балет Петра Чайковского", "Мариинский театр", "Санкт-Петербург", "щилкунчик мариинский"},
	{"Łódź Design Festival", "architecture", "", "Fabryka", "Łódź", "lodz desing"},
	{"Ρεμπέτικα στην ταβέρνα", "", "", "Σταυρός", "Πειραιάς", "ρεμπετικα πειραιας"},
	{"Kubernetes Deep Dive", "containers", "A workshop for platform engineers", "Betahaus", "Berlin", "kubernets workshop in berlin"},
	{"Réveillon à l'Opéra Garnier", "", "", "Palais Garnier", "Paris", "opera garnier reveilon"},
	{"隅田川花火大会", "", "", "隅田公園", "東京", "隅田川 花火"},
}

// catalogNumbers is the number before the first event that FillCatalog writes. A node's own events
// have far lower numbers.
const catalogNumbers = 1_000_000

// FillCatalog writes n events of an organization, in ten languages, and spreads the sought ones among them; n
// is a multiple of their number. The events are on sale and begin after the time start. It writes them as a
// release without search did, so that readmodel.FillSearch has to make them searchable.
func FillCatalog(t testing.TB, pool *pgxpool.Pool, org int64, start time.Time, n int) {
	t.Helper()
	// The seed is constant, so that every run searches the same events.
	random := rand.New(rand.NewPCG(1, 2))
	var rows [][]any
	add := func(d *event.Details) {
		number := catalogNumbers + int64(len(rows)+1)
		d.Org, d.Visibility, d.Timezone, d.Currency = org, "public", "UTC", "USD"
		d.StartAt, d.EndAt = start.Add(time.Hour).UnixMilli()+number, start.Add(9*time.Hour).UnixMilli()
		d.PublicID = engine.NewID(number, []byte("0123456789"))
		record, err := codec.Marshal(d)
		require.NoError(t, err)
		rows = append(rows, []any{
			number, org, time.UnixMilli(d.StartAt), time.UnixMilli(d.EndAt), start, start, int64(1), [16]byte(d.PublicID), fmt.Sprint(number),
			d.Title, d.ShortDesc, "music", event.ProductEvent, event.StatusOnSale, "public", d.VenueCity, "", d.VenueName, "USD", record,
		})
	}
	for i := range n {
		of := func(words []string) string { return words[random.IntN(len(words))] }
		tongue := tongues[i%len(tongues)]
		// The sought events are spread evenly among the others.
		if i%(n/len(Sought)) == n/len(Sought)/2 {
			s := Sought[i/(n/len(Sought))]
			add(&event.Details{Title: s.Title, Tags: strings.Fields(s.tags), ShortDesc: s.short, VenueName: s.venue, VenueCity: s.city})
		}
		add(&event.Details{
			Title: fmt.Sprintf("%s %s %d", of(tongue.titles), of(tongue.titles), i), Tags: []string{of(tongue.titles)},
			ShortDesc: of(tongue.titles) + " " + of(tongue.titles) + " " + of(tongue.cities), VenueName: of(tongue.titles), VenueCity: of(tongue.cities),
		})
	}
	_, err := pool.CopyFrom(t.Context(), pgx.Identifier{"events"}, strings.Fields(`number org start_at end_at created_at updated_at revision public_id slug
		title short_desc category product_type status visibility city country venue currency record`), pgx.CopyFromRows(rows))
	require.NoError(t, err)
}
