package tickets

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/persisttest"
)

// TestPapers prints tickets, and takes their dates into a calendar.
func TestPapers(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(0, 50), nodetest.TypeBody(10, 50))
	o := s.Call("POST", "/orders", nodetest.With(nodetest.OrderBody("ada@example.org", ids[0], 2), nodetest.Object{"guestName": "Łucja Ωmega 🎉"})).Is(201, "")
	path := "/api/v1/orders/" + o.Str("id")
	token := "?token=" + o.Str("accessToken")

	res, body := s.Get(path + "/tickets.pdf" + token)
	require.Equal(t, []any{200, "application/pdf"}, []any{res.StatusCode, res.Header.Get("Content-Type")})
	require.True(t, strings.HasPrefix(body, "%PDF"))
	require.Equal(t, 2, strings.Count(body, "/Type /Page\n"), "a page for each")
	res, body = s.Get(path + "/calendar.ics" + token)
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, 1, strings.Count(body, "BEGIN:VEVENT"))
	require.Contains(t, body, "DTSTART;TZID=")

	s.Own("GET", strings.TrimPrefix(path, "/api/v1")+"/tickets.pdf?from=2", nil).Is(409, "CONFLICT")
	for _, file := range []string{"/tickets.pdf", "/calendar.ics"} {
		s.Call("GET", strings.TrimPrefix(path, "/api/v1")+file, nil).Is(401, "UNAUTHORIZED")
		s.Call("GET", strings.TrimPrefix(path, "/api/v1")+file+"?token=x", nil).Is(404, "ORDER_NOT_FOUND")
		unpaid, open := s.Place("bob@example.org", ids[1], 1)
		s.Call("GET", "/orders/"+unpaid+file+"?token="+open, nil).Is(409, "CONFLICT")
	}

	t.Log("what was passed on is printed by nobody else")
	began := time.Now()
	s.Buyer("ada@example.org").Own("POST", "/tickets/"+o.Str("tickets.0.id")+"/transfer", nodetest.Object{"toEmail": "joe@example.org"}).Is(201, "")
	s.Call("POST", "/tickets/transfers/"+s.ClaimToken("joe@example.org", began)+"/claim", nil).Is(200, "")
	_, body = s.Get(path + "/tickets.pdf" + token)
	require.Equal(t, 1, strings.Count(body, "/Type /Page\n"))

	t.Log("a digital order has no date")
	_, files := s.Sell(ebook(), nodetest.TypeBody(0, 50))
	o = s.Call("POST", "/orders", nodetest.OrderBody("eve@example.org", files[0], 1)).Is(201, "")
	s.Call("GET", "/orders/"+o.Str("id")+"/calendar.ics?token="+o.Str("accessToken"), nil).Is(404, "NOT_FOUND")
}

// TestPrintable: a ticket says whether paper admits its holder: not where codes have to change, or nobody comes, or it
// is somebody else's by now.
func TestPrintable(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	for name, c := range map[string]struct {
		event nodetest.Object
		want  bool
	}{
		"hall": {nodetest.Object{}, true}, "rotating": {nodetest.Object{"rotatingOnly": true}, false},
		"online": {nodetest.Object{"venueType": "online", "venueName": nodetest.Absent}, false}, "book": {ebook(), false},
	} {
		_, ids := s.Sell(c.event, nodetest.TypeBody(0, 50))
		o := s.Call("POST", "/orders", nodetest.OrderBody(name+"@example.org", ids[0], 1)).Is(201, "")
		require.NotContains(t, o.Keys("tickets.0"), "printable", "which may change until a repeat")
		require.Equal(t, c.want, s.Order(o.Str("id"), o.Str("accessToken")).Data("tickets.0.printable"), name)
	}
	_, ids := s.OnSale(nodetest.TypeBody(0, 50))
	o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 2)).Is(201, "")
	ada := s.Buyer("ada@example.org")
	began := time.Now()
	ada.Own("POST", "/tickets/"+o.Str("tickets.0.id")+"/transfer", nodetest.Object{"toEmail": "joe@example.org"}).Is(201, "")
	s.Call("POST", "/tickets/transfers/"+s.ClaimToken("joe@example.org", began)+"/claim", nil).Is(200, "")
	read := s.Order(o.Str("id"), o.Str("accessToken"))
	require.Equal(t, []any{false, true}, []any{read.Data("tickets.0.printable"), read.Data("tickets.1.printable")})
	require.Equal(t, true, ada.MyTickets(1).Data("items.0.printable"))
}

// TestPapersInManyLanguages prints tickets with titles and names in many scripts, renders
// them, and reads their codes with another's decoder: the gate admits what it reads. With
// BOXOFFICE_KEEP_PDF the pictures are kept in that folder, to look at.
func TestPapersInManyLanguages(t *testing.T) {
	t.Parallel()
	persisttest.Program(t, "apt-get install poppler-utils", "pdftoppm")
	persisttest.Program(t, "apt-get install zbar-tools", "zbarimg")
	s := nodetest.Open(t)
	folder := t.TempDir()
	if keep := os.Getenv("BOXOFFICE_KEEP_PDF"); keep != "" {
		folder = keep
	}
	for language, words := range map[string][2]string{
		"amharic": {"የአዲስ አበባ ሙዚቃ ምሽት", "ሰላማዊት ተስፋዬ"}, "arabic": {"ليلة الموسيقى في القاهرة", "محمد عبد الله"}, "armenian": {"Երաժշտության գիշեր", "Արամ Խաչատրյան"},
		"bengali": {"কলকাতা সঙ্গীত সন্ধ্যা", "রবীন্দ্রনাথ ঠাকুর"}, "chinese": {"北京国家大剧院新年音乐会", "王小明"}, "czech": {"Večer hudby ve Žďáru", "Žofie Dvořáková"},
		"english": {"A night of music", "Ada O'Brien"}, "georgian": {"მუსიკის ღამე", "გიორგი ბერიძე"}, "german": {"Große Nacht der Musik", "Jürgen Größmann"},
		"greek": {"Νύχτα μουσικής στην Αθήνα", "Ελένη Παπαδοπούλου"}, "hebrew": {"ליל מוזיקה בתל אביב", "שלום כהן"}, "hindi": {"संगीत की शाम", "कृष्णा शर्मा"},
		"japanese": {"東京の音楽の夜", "山田 太郎"}, "korean": {"서울 음악의 밤", "김민수"}, "polish": {"Noc muzyki w Łodzi", "Łukasz Żółć"}, "russian": {"Ночь музыки в Москве", "Иван Тургенев"},
		"tamil": {"இசை மாலை", "சுப்பிரமணிய பாரதி"}, "thai": {"ค่ำคืนแห่งดนตรี", "สมชาย ใจดี"}, "turkish": {"İğdır'da müzik gecesi", "Şükrü Çağlar"}, "urdu": {"موسیقی کی رات", "فیض احمد فیض"},
		"vietnamese": {"Đêm nhạc Hà Nội", "Nguyễn Thị Ánh"},
	} {
		event, ids := s.Sell(nodetest.Object{"title": words[0]}, nodetest.TypeBody(0, 5))
		o := s.Call("POST", "/orders", nodetest.With(nodetest.OrderBody(language+"@example.org", ids[0], 1), nodetest.Object{"guestName": words[1]})).Is(201, "")
		_, body := s.Get("/api/v1/orders/" + o.Str("id") + "/tickets.pdf?token=" + o.Str("accessToken"))
		file := filepath.Join(folder, language)
		require.NoError(t, os.WriteFile(file+".pdf", []byte(body), 0o600))
		require.NoError(t, exec.CommandContext(t.Context(), "pdftoppm", "-r", "100", "-png", "-singlefile", file+".pdf", file).Run())
		code, err := exec.CommandContext(t.Context(), "zbarimg", "--quiet", "--raw", file+".png").Output()
		require.NoError(t, err, language)
		s.Scan(event, strings.TrimSpace(string(code)), "gate").Is(200, "")
		a := s.Scan(event, strings.TrimSpace(string(code)), "another").Is(200, "")
		require.Equal(t, "denied_duplicate", a.Str("status"), "%s: the first admitted", language)
	}
}
