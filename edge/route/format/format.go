// Package format has the values of the format tag of requests: what a text must be, and the one form
// in which it is stored.
package format

import (
	_ "embed" // timezones.txt
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // so that every zone can be loaded, whatever the machine has installed
	"unicode"

	"golang.org/x/net/idna"
)

// Format is one value of the format tag.
type Format struct {
	What      string // completes "must be ..."
	Valid     func(string) bool
	Canonical func(string) string // converts the text to the form that is stored; nil: it is stored as it is
}

// Named returns the format that a tag names.
func Named(tag string) (Format, bool) {
	f, ok := formats[tag]
	return f, ok
}

var formats = map[string]Format{
	"email":     {What: "an e-mail address", Valid: ValidEmail, Canonical: CanonicalEmail},
	"uuid":      {What: "a UUID", Valid: ValidUUID},
	"uri":       {What: "an absolute http or https address", Valid: ValidURI},
	"hosted":    {What: "an absolute http or https address, or /media/<id>", Valid: validHosted},
	"origin":    {What: "https:// and a host, such as https://example.org, or http://localhost", Valid: validOrigin, Canonical: canonicalOrigin},
	"date-time": {What: "a date and time as in RFC 3339", Valid: validDateTime},
	"date":      {What: "a date as YYYY-MM-DD", Valid: validDate},
	"timezone":  {What: "an IANA time zone", Valid: validTimezone},
	"country":   {What: "an ISO 3166-1 alpha-2 country code", Valid: oneWordOf(countries), Canonical: upperASCII},
	"locale":    {What: "a language tag as in BCP 47", Valid: validLocale},
	"id":        {What: "made of letters, digits, _, . and -", Valid: validID},
	"color":     {What: "a colour as #rgb, #rrggbb or #rrggbbaa", Valid: validColor},
	"currency":  {What: "an ISO 4217 currency code", Valid: oneWordOf(currencies)},
}

// ValidEmail accepts the sort of addresses that mail providers give out: printable ASCII without
// quotes or comments, and a domain of at least two labels. It refuses everything that could end a
// header line or name a second recipient.
func ValidEmail(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || len(s) > 254 || len(local) == 0 || len(local) > 64 {
		return false
	}
	for _, c := range []byte(local) {
		if !alphanumeric(c) && !strings.ContainsRune("!#$%&'*+/=?^_`{|}~.-", rune(c)) {
			return false
		}
	}
	if local[0] == '.' || strings.HasSuffix(local, ".") || strings.Contains(local, "..") {
		return false
	}
	return strings.Contains(domain, ".") && validDomain(domain)
}

// CanonicalEmail writes a domain in other letters than ASCII as mail servers know it (RFC 5891), so
// that both spellings are one mailbox. An address that has no such domain stays as it is.
func CanonicalEmail(s string) string {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || strings.IndexFunc(domain, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return s
	}
	ascii, err := idna.Lookup.ToASCII(domain)
	if err != nil {
		return s
	}
	return local + "@" + ascii
}

// validDomain reports whether a text consists of labels of a domain, separated by dots: each has 1 to 63 ASCII letters,
// digits and hyphens, and neither begins nor ends with a hyphen. One label is enough.
func validDomain(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if len(label) == 0 || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if !alphanumeric(c) && c != '-' {
				return false
			}
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// ValidUUID reports whether s is a UUID in its usual form, of any version, in upper or lower case.
func ValidUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
			continue
		}
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

// ValidURI reports whether s is an absolute http or https address of a domain or an IP address, without spaces and
// without a user's name.
func ValidURI(s string) bool {
	for _, r := range s {
		if r <= ' ' || r == 0x7f {
			return false
		}
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return false
	}
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return validDomain(host)
}

// readOrigin reads the origin of a site (RFC 6454) in the form in which Content-Security-Policy names it: small
// letters of ASCII, without a path. Without TLS, an origin is good on one's own machine alone.
func readOrigin(s string) (origin string, ok bool) {
	u, err := url.Parse(strings.TrimSuffix(s, "/"))
	if err != nil || u.Host == "" || *u != (url.URL{Scheme: u.Scheme, Host: u.Host}) {
		return "", false
	}
	host, err := idna.Lookup.ToASCII(u.Hostname())
	if err != nil || !validDomain(host) {
		return "", false
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return "", false
		}
		if u.Scheme != "https" || port != "443" {
			host += ":" + port
		}
	} else if strings.HasSuffix(u.Host, ":") {
		return "", false
	}
	local := u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1"
	return u.Scheme + "://" + host, u.Scheme == "https" || u.Scheme == "http" && local
}

// validOrigin reports whether readOrigin accepts a text.
func validOrigin(s string) bool {
	_, ok := readOrigin(s)
	return ok
}

func canonicalOrigin(s string) string {
	origin, _ := readOrigin(s)
	return origin
}

// validHosted accepts an address, or the root-relative path of a file that the service hosts. An
// empty text means no file.
func validHosted(s string) bool {
	id, hosted := strings.CutPrefix(s, HostedPrefix)
	if !hosted {
		return s == "" || ValidURI(s)
	}
	n, err := strconv.ParseInt(id, 10, 64)
	return err == nil && n > 0 && strconv.FormatInt(n, 10) == id
}

// HostedPrefix begins the path of a file that the service hosts; the file's number follows it.
const HostedPrefix = "/media/"

func validDateTime(s string) bool {
	_, ok := ParseTime(s)
	return ok
}

// ParseTime reads RFC 3339 strictly, in which T and Z may be lower-case letters (5.6). It does not
// take what time.Parse takes besides: hours of one digit, a comma before the fraction, offsets of
// any size (go.dev/issue/54580).
func ParseTime(s string) (time.Time, bool) {
	s = strings.ToUpper(s)
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || s[13] != ':' || strings.Contains(s, ",") {
		return t, false
	}
	if s[len(s)-1] == 'Z' {
		return t, true
	}
	if offset := s[len(s)-6:]; offset[1:3] > "23" || offset[4:] > "59" {
		return t, false
	}
	_, seconds := t.Zone() // time.Parse takes the machine's own zone where that has the offset
	return t.In(time.FixedZone("", seconds)), true
}

func validDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

//go:embed timezones.txt
var timezoneNames string

// timezones are the names of the tz database, both zones and links. The list is part of the program, because
// the lists that machines have installed differ, and contain more than zones: no other program would read
// right/UTC, which has leap seconds, as we would.
var timezones = wordsOf(timezoneNames)

func validTimezone(s string) bool { return timezones[s] }

// upperASCII returns s with its letters a to z in upper case.
func upperASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, s)
}

// validColor reports whether s is a colour in the hexadecimal notation of CSS.
func validColor(s string) bool {
	if len(s) != 4 && len(s) != 7 && len(s) != 9 || s[0] != '#' {
		return false
	}
	for _, c := range []byte(s[1:]) {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// validID reports whether s consists of the characters of ids and slugs.
func validID(s string) bool {
	for _, c := range []byte(s) {
		if !alphanumeric(c) && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return s != ""
}

// wordsOf returns the words of a list as a set.
func wordsOf(list string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		words[w] = true
	}
	return words
}

// oneWordOf makes a check that accepts the words of a list.
func oneWordOf(list string) func(string) bool {
	words := wordsOf(list)
	return func(s string) bool { return words[s] }
}

// countries are the officially assigned codes of ISO 3166-1 alpha-2.
const countries = `
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR
GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT
MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ
UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW`

// currencies are the codes of ISO 4217 that are legal tender.
const currencies = `
AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY
COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR
ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP
MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG
SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST
XAF XCD XCG XOF XPF YER ZAR ZMW ZWG`

// validLocale accepts a text that has the form of a language tag: subtags of up to eight letters
// and digits, the first of letters only.
func validLocale(s string) bool {
	for i, part := range strings.Split(s, "-") {
		if len(part) < 1 || len(part) > 8 || i == 0 && len(part) < 2 {
			return false
		}
		for _, c := range []byte(part) {
			letter := 'a' <= c|0x20 && c|0x20 <= 'z'
			if !letter && (i == 0 || c < '0' || c > '9') {
				return false
			}
		}
	}
	return true
}
