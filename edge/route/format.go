package route

import (
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // which time zones exist must not depend on the machine
)

// format is one value of the format tag.
type format struct {
	what  string // completes "must be ..."
	valid func(string) bool
}

// formats are the values of the format tag.
var formats = map[string]format{
	"email":     {"an e-mail address", validEmail},
	"uuid":      {"a UUID", ValidUUID},
	"uri":       {"an absolute http or https address", ValidURI},
	"date-time": {"a date and time as in RFC 3339", validDateTime},
	"date":      {"a date as YYYY-MM-DD", validDate},
	"timezone":  {"an IANA time zone", validTimezone},
	"country":   {"an ISO 3166-1 alpha-2 country code", oneWordOf(countries)},
	"currency":  {"an ISO 4217 currency code", oneWordOf(currencies)},
}

// validEmail accepts the addresses that mail providers give out: printable
// ASCII without quotes or comments, and a domain of at least two labels.
// Anything that could end a header line or name a second recipient is out.
func validEmail(s string) bool {
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

// ValidUUID says whether s is a UUID in its usual form, of any version and in
// either case.
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

// ValidURI says whether s is an absolute http or https address.
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

func validDateTime(s string) bool {
	_, ok := parseTime(s)
	return ok
}

// parseTime reads RFC 3339, without the liberties of time.Parse: hours of one
// digit, a comma before the fraction, offsets of any size (go.dev/issue/54580).
func parseTime(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || s[13] != ':' || strings.Contains(s, ",") {
		return t, false
	}
	if offset := s[len(s)-6:]; s[len(s)-1] != 'Z' && (offset[1:3] > "23" || offset[4:] > "59") {
		return t, false
	}
	return t, true
}

func validDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// timezones remembers the names that exist: finding one reads a file.
var timezones sync.Map

func validTimezone(s string) bool {
	if _, ok := timezones.Load(s); ok {
		return true
	}
	// LoadLocation gives these two a meaning of its own.
	if s == "" || s == "Local" || len(s) > 64 {
		return false
	}
	if _, err := time.LoadLocation(s); err != nil {
		return false
	}
	timezones.Store(s, struct{}{})
	return true
}

// oneWordOf accepts the words of a list.
func oneWordOf(list string) func(string) bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		words[w] = true
	}
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
