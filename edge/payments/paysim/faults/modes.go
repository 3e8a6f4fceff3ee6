// Package faults says how a simulated provider misbehaves: the modes of transactions, and the chance by which
// they strike.
package faults

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Modes say how a transaction, or all of them, misbehave: settings by the names of Catalog. Nil means that all goes
// well.
type Modes map[string]Setting

// Setting is one mode's argument, and how often it strikes.
type Setting struct {
	Chance float64 // 0 to 1; modes of calls draw for each call, the other modes once for each transaction or webhook
	// Number, Span or Word is the mode's value, as its row of Catalog says.
	Number int64
	Span   time.Duration
	P99    time.Duration // only of the mode slow: 99 % of the calls take less; 0: all take Span
	Word   string
}

// argument is what a mode's value means.
type argument int

const (
	nothing argument = iota
	number
	span
	spans // one duration for all, or median..p99
	word
)

// Mode is one row of Catalog.
type Mode struct {
	Help     string
	argument argument
	standard Setting  // the setting if the text names no value
	words    []string // the values that a mode of words may have
}

// Catalog has every mode. The first group strikes calls of the API, the second is decided at the checkout, the
// third is about refunds, and the last one is about webhooks.
var Catalog = map[string]Mode{
	"slow":      {"calls take this long: slow=200ms or, log-normal, slow=median..p99", spans, Setting{Span: 500 * time.Millisecond}, nil},
	"error":     {"calls are answered with this status, 500 by default, and do nothing", number, Setting{Number: 500}, nil},
	"reset":     {"the connection is reset before the call does anything", nothing, Setting{}, nil},
	"lost":      {"the call is done, but the connection is reset before the answer", nothing, Setting{}, nil},
	"timeout":   {"calls get no answer, and the connection is reset after this long", span, Setting{Span: time.Minute}, nil},
	"malformed": {"the answer's JSON breaks off", nothing, Setting{}, nil},

	"success":   {"well-behaved, whatever the process's modes are", nothing, Setting{}, nil},
	"auto":      {"pays by itself, this long after initialize", span, Setting{}, nil},
	"pending":   {"verify answers pending this many times, then success", number, Setting{Number: 3}, nil},
	"late":      {"the money arrives this long after the checkout; abandoned till then", span, Setting{Span: time.Minute}, nil},
	"short":     {"this much less is paid, half by default", number, Setting{}, nil},
	"over":      {"this much more is paid, half as much again by default", number, Setting{}, nil},
	"currency":  {"what is paid is of this currency, NGN by default", word, Setting{Word: "NGN"}, []string{"GHS", "KES", "NGN", "USD", "ZAR"}},
	"failed":    {"the checkout's success is a failure", nothing, Setting{}, nil},
	"abandoned": {"the checkout's success never happens", nothing, Setting{}, nil},
	"again":     {"coins: this long after, as many come to the same address again", span, Setting{}, nil},
	"reversed":  {"paid, and this long after wholly refunded by the provider", span, Setting{}, nil},

	"refund": {
		"a refund ends as: processed, failed, needs-attention, or stays pending or processing", word,
		Setting{Word: "failed"},
		[]string{"pending", "processing", "processed", "failed", "needs-attention"},
	},

	"refundfails":   {"the first refunds of a transaction, 1 by default, end as failed", number, Setting{Number: 1}, nil},
	"refundrefused": {"the first calls for a refund, 1 by default, are refused: the balance is too small", number, Setting{Number: 1}, nil},
	"refundslow":    {"a refund is pending for this long, and processing for as long", span, Setting{Span: time.Minute}, nil},

	"hookdelay": {"webhooks are sent this much later", span, Setting{Span: 5 * time.Second}, nil},
	"duplicate": {"webhooks are sent this many times, 2 by default", number, Setting{Number: 2}, nil},
	"reorder":   {"each webhook waits a different part of this", span, Setting{Span: 2 * time.Second}, nil},
	"drop":      {"webhooks are never sent", nothing, Setting{}, nil},
	"badsig":    {"webhooks carry a wrong signature", nothing, Setting{}, nil},
}

// Parse reads a comma-separated list of name[=value][@chance], such as "slow=50ms..2s,error=503@0.05,pending=3". An
// empty list means that all goes well.
func Parse(text string) (Modes, error) {
	m := Modes{}
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		name, set, err := parseItem(item)
		if err != nil {
			return nil, fmt.Errorf("mode %q: %w", item, err)
		}
		m[name] = set
	}
	return m, nil
}

// parseItem reads one name[=value][@chance]. Without a value the mode has its standard one; without a chance it
// always strikes.
func parseItem(item string) (string, Setting, error) {
	item, chance, some := strings.Cut(item, "@")
	name, value, given := strings.Cut(item, "=")
	mode, ok := Catalog[name]
	if !ok {
		return "", Setting{}, fmt.Errorf("unknown; there are %s", strings.Join(listNames(), ", "))
	}
	set := mode.standard
	set.Chance = 1
	if some {
		p, err := strconv.ParseFloat(chance, 64)
		if err != nil || !(p >= 0 && p <= 1) {
			return "", Setting{}, errors.New("a chance is 0 to 1")
		}
		set.Chance = p
	}
	if given {
		if err := mode.read(&set, value); err != nil {
			return "", Setting{}, err
		}
	}
	if name == "error" && (set.Number < 400 || set.Number > 599) {
		return "", Setting{}, errors.New("a status is 400 to 599")
	}
	return name, set, nil
}

// read stores a mode's value in the field of its setting for this kind of value: a whole number, a duration
// (or, where the mode allows it, median..p99), or one of the mode's words. Its error says what the value
// should look like; set may then be changed in part.
func (m Mode) read(set *Setting, value string) (err error) {
	switch m.argument {
	case nothing:
		return errors.New("takes no value")
	case number:
		if set.Number, err = strconv.ParseInt(value, 10, 64); err != nil || set.Number < 0 {
			return errors.New("the value is a whole number")
		}
	case span, spans:
		median, p99, two := strings.Cut(value, "..")
		if set.Span, err = time.ParseDuration(median); err != nil || set.Span < 0 {
			return errors.New("the value is a duration")
		}
		if !two {
			return nil
		}
		if set.P99, err = time.ParseDuration(p99); err != nil || m.argument != spans || set.P99 < set.Span || set.Span == 0 {
			return errors.New("the value is median..p99")
		}
	case word:
		if !slices.Contains(m.words, value) {
			return fmt.Errorf("the value is one of %s", strings.Join(m.words, ", "))
		}
		set.Word = value
	}
	return nil
}

// listNames returns the names of all modes in the order of the alphabet, because a map has none.
func listNames() []string {
	names := make([]string, 0, len(Catalog))
	for name := range Catalog {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// String writes the modes so that Parse reads the same ones. It writes every value, also a standard one.
func (m Modes) String() string {
	var items []string
	for _, name := range listNames() {
		set, ok := m[name]
		if !ok {
			continue
		}
		item := name
		switch Catalog[name].argument {
		case nothing:
		case number:
			item += "=" + strconv.FormatInt(set.Number, 10)
		case span:
			item += "=" + set.Span.String()
		case spans:
			item += "=" + set.Span.String()
			if set.P99 > 0 {
				item += ".." + set.P99.String()
			}
		case word:
			item += "=" + set.Word
		}
		if set.Chance < 1 {
			item += "@" + strconv.FormatFloat(set.Chance, 'g', -1, 64)
		}
		items = append(items, item)
	}
	return strings.Join(items, ",")
}

// Dice makes all the simulator's chances. Each draw depends on the seed, on the name of what is drawn for and, if it is
// a draw for a call, on how often that name has been drawn for before. So a run can be repeated even if calls about
// different things come in another order.
type Dice struct {
	seed uint64

	mu    sync.Mutex
	hash  maphash.Seed
	drawn map[uint64]uint64 // how often a name has been drawn for, by the hash of the name
}

// maxDrawn bounds how many names are remembered. When there are more, all counts begin at 0 again.
const maxDrawn = 1 << 20

// NewDice makes the dice of a seed.
func NewDice(seed uint64) *Dice {
	return &Dice{seed: seed, hash: maphash.MakeSeed(), drawn: make(map[uint64]uint64)}
}

// drawNext draws a number from 0 to 1. The next call with the same name draws another one.
func (d *Dice) drawNext(name string) float64 {
	key := maphash.String(d.hash, name)
	d.mu.Lock()
	if len(d.drawn) >= maxDrawn {
		clear(d.drawn)
	}
	n := d.drawn[key]
	d.drawn[key] = n + 1
	d.mu.Unlock()
	return d.drawNumber(name, n)
}

// Once draws a number from 0 to 1, which is always the same for the name.
func (d *Dice) Once(name string) float64 { return d.drawNumber(name, 0) }

// drawNumber makes the n-th number of a name. It takes 53 bits, which is what a float64 has.
func (d *Dice) drawNumber(name string, n uint64) float64 {
	return float64(Scramble(d.seed, name, n)>>11) / (1 << 53)
}

// Scramble mixes a seed, a name and a count into 64 bits that look random: FNV-1a over the name, finished as
// splitmix64 does.
func Scramble(seed uint64, name string, n uint64) uint64 {
	h := uint64(14695981039346656037) ^ seed
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h += (n + 1) * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// Latency draws how long a call takes: the span or, if there is a P99, a log-normal time with the span as its
// median and that p99. It is at most four times the p99.
func (d *Dice) Latency(set Setting, name string) time.Duration {
	if set.P99 == 0 {
		return set.Span
	}
	const z99 = 2.326 // the normal distribution's 99th percentile
	u, v := 1-d.drawNext(name+"/u"), d.drawNext(name+"/v")
	z := math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
	sigma := math.Log(float64(set.P99)/float64(set.Span)) / z99
	return time.Duration(min(float64(set.Span)*math.Exp(sigma*z), 4*float64(set.P99)))
}

// Strikes reports whether a mode strikes this call, and returns the mode's setting. Each call for the same name
// draws again.
func (d *Dice) Strikes(m Modes, mode, name string) (Setting, bool) {
	set, ok := m[mode]
	if !ok || set.Chance >= 1 {
		return set, ok
	}
	return set, d.drawNext(mode+"/"+name) < set.Chance
}

// Struck reports whether a mode strikes a transaction, and returns the mode's setting. All calls with the same
// mode and reference give the same answer.
func (d *Dice) Struck(m Modes, mode, reference string) (Setting, bool) {
	set, ok := m[mode]
	if !ok || set.Chance >= 1 {
		return set, ok
	}
	return set, d.Once(mode+"/"+reference) < set.Chance
}
