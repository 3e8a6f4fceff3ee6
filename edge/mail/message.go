package mail

import (
	"embed"
	htmltemplate "html/template"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"strings"
	"text/template"
	"time"
	"unicode"
)

// Message is one mail to one person, ready to be sent. The Sender adds its own address, the date,
// and the headers that mark the mail as sent by a machine.
type Message struct {
	ID       string // unique; the left half of Message-ID, the same in every attempt
	Kind     string // the kind of the mail; its template has the same name
	To       string // the address, without the name
	ToName   string // may be empty
	Subject  string
	Text     string
	HTML     string
	Pictures []Picture // the pictures that the HTML shows
	Calendar *Calendar // nil: the mail has no calendar file
	// Unsubscribe is the URL to which a mail program posts to end mails of this sort (RFC 8058). "" means that
	// such mails can't be ended.
	Unsubscribe string
	// ReplyTo is the address for replies, or only its part before the "@", for an address at the Origin's
	// domain. "" means that nobody reads replies.
	ReplyTo string
}

// Picture is a PNG within a mail.
type Picture struct {
	Name string // one word, which no other picture of the mail has
	PNG  []byte
}

// contentID is the picture's address within its mail (RFC 2392).
func (p *Picture) contentID() string { return p.Name + "@boxoffice" }

// Envelope says to whom a mail goes, and in which language.
type Envelope struct {
	ID       string // the Message's ID
	To       string // the address, without the name
	Name     string // may be empty
	Language Language
}

func (to *Envelope) words() *words { return wordsOf[to.Language] }

// LoginCode brings a person the code with which they log in.
func LoginCode(to Envelope, code string) Message {
	return composeMessage("login_code", to, values{"Code": code})
}

// PasswordReset brings the link under which a new password is set.
func PasswordReset(to Envelope, url string) Message {
	return composeMessage("password_reset", to, values{"URL": url})
}

// EmailConfirmation brings the link under which a registered address is confirmed.
func EmailConfirmation(to Envelope, url string) Message {
	return composeMessage("email_confirmation", to, values{"URL": url})
}

// AccountTaken tells a person who has proven to own a mailbox that somebody without that proof had registered
// its address, and what we therefore ended. url leads to the account's organizations.
func AccountTaken(to Envelope, url string) Message {
	return composeMessage("account_taken", to, values{"URL": url})
}

// Invitation asks somebody to join an organization; url is where one signs in.
func Invitation(to Envelope, organization, role, url string) Message {
	return composeMessage("invitation", to, values{"Organization": cleanLabel(organization), "Role": cleanLabel(role), "URL": url})
}

// TransferOffered brings the link that claims a ticket which somebody passes on.
func TransferOffered(to Envelope, from, url string, e *Event) Message {
	return composeMessage("transfer_offered", to, values{"From": to.words().showPerson(from), "URL": url, "Event": e.templateValues(to.words())})
}

// TransferTaken tells the person who passed a ticket on that it has a new holder. The caller leaves o's
// number and URL empty if that person is not the order's buyer. If the ticket was the giver's last one for the
// event or for a visit, the mail's calendar file removes that from the giver's calendar.
func TransferTaken(to Envelope, taker string, o *Order, e *Event) Message {
	m := composeMessage("transfer_taken", to, values{"Taker": to.words().showPerson(taker), "Number": o.Number, "URL": o.URL, "Event": e.templateValues(to.words())})
	if e.hasEnded() {
		m.Calendar = e.makeCalendar(to.words())
	}
	return m
}

// TransferRevoked tells the person who was offered a ticket that the offer has ended.
func TransferRevoked(to Envelope, from string, e *Event) Message {
	return composeMessage("transfer_revoked", to, values{"From": to.words().showPerson(from), "Event": e.templateValues(to.words())})
}

// WaitlistConfirm asks somebody whether they want to wait for tickets. tier is the ticket type, "" for any.
// url leads to the page where they confirm.
func WaitlistConfirm(to Envelope, tier string, count int64, url string, end Unsubscribe, e *Event) Message {
	m := composeMessage("waitlist_confirm", to, values{"Tier": cleanLabel(tier), "Count": count, "URL": url, "Unsubscribe": end.Page, "Event": e.templateValues(to.words())})
	m.Unsubscribe = end.Post
	return m
}

// WaitlistJoined confirms that somebody waits for tickets. tier is the ticket type, "" for any. With url they
// can end the waiting.
func WaitlistJoined(to Envelope, tier string, count int64, url string, e *Event) Message {
	return composeMessage("waitlist_joined", to, values{"Tier": cleanLabel(tier), "Count": count, "URL": url, "Event": e.templateValues(to.words())})
}

// WaitlistOffered brings the link that takes the tickets somebody has waited for; the offer ends at
// until, in the event's time zone. total is what they cost with their fees.
func WaitlistOffered(to Envelope, tier string, count int64, total Money, until time.Time, url string, e *Event) Message {
	w := to.words()
	return composeMessage("waitlist_offered", to, values{
		"Tier": cleanLabel(tier), "Count": count, "Total": w.showMoney(total), "Until": w.showMoment(until), "URL": url, "Event": e.templateValues(w),
	})
}

// WaitlistExpired tells somebody that the offer to them has ended. url shows the event.
func WaitlistExpired(to Envelope, url string, e *Event) Message {
	return composeMessage("waitlist_expired", to, values{"URL": url, "Event": e.templateValues(to.words())})
}

// RoomLink leads to a waiting room: URL to its usual page, Plain to the page that needs no scripts.
type RoomLink struct{ URL, Plain string }

// QueueConfirm asks somebody whether they want to join a waiting room. link leads to the page with the button
// for that.
func QueueConfirm(to Envelope, link RoomLink, end Unsubscribe, e *Event) Message {
	return composeRoom("queue_confirm", to, link, end, e)
}

// QueuePlace brings the link that shows somebody's place in a waiting room on any device.
func QueuePlace(to Envelope, link RoomLink, end Unsubscribe, e *Event) Message {
	return composeRoom("queue_place", to, link, end, e)
}

// composeRoom makes a mail about a waiting room, with the addresses that end the organization's bulk mail (end) in
// the text and in the mail's header.
func composeRoom(template string, to Envelope, link RoomLink, end Unsubscribe, e *Event) Message {
	m := composeMessage(template, to, values{"URL": link.URL, "Plain": link.Plain, "Unsubscribe": end.Page, "Event": e.templateValues(to.words())})
	m.Unsubscribe = end.Post
	return m
}

// PasswordChanged warns the owner of an account that its password was changed. url leads to the sign-in.
func PasswordChanged(to Envelope, url string) Message {
	return composeMessage("password_changed", to, values{"URL": url})
}

// TwoFactorChanged warns the owner of an account that its second factor is now on or off. url leads to the
// sign-in.
func TwoFactorChanged(to Envelope, on bool, url string) Message {
	return composeMessage("two_factor_changed", to, values{"On": on, "URL": url})
}

// WebhookDisabled tells an owner that the service no longer sends to a webhook endpoint, either
// because the endpoint said that it is gone, or because deliveries kept failing. url shows all endpoints.
func WebhookDisabled(to Envelope, organization, endpoint, id string, gone bool, url string) Message {
	return composeMessage("webhook_disabled", to, values{"Organization": cleanLabel(organization), "Endpoint": cleanLabel(endpoint), "ID": id, "Gone": gone, "URL": url})
}

// Dispute is what an owner reads about a payment that the buyer disputes with a bank or with the provider.
type Dispute struct {
	Number, Title string // the order's number and the event's title
	Provider      string // the provider's name for people
	Reason        string // the reason in the provider's words; "" if the provider gives none
	Amount        Money
	Until         time.Time // the deadline for an answer, in the event's time zone; zero if the provider names none
	URL           string    // the page that lists all disputes
}

// PaymentDisputed tells an owner that a payment is disputed.
func PaymentDisputed(to Envelope, organization string, d *Dispute) Message {
	w := to.words()
	return composeMessage("payment_disputed", to, values{
		"Organization": cleanLabel(organization), "Number": d.Number, "Title": cleanLabel(d.Title), "Provider": cleanLabel(d.Provider), "Reason": w.showDispute(d.Reason),
		"Amount": w.showMoney(d.Amount), "Until": w.showMoment(d.Until), "URL": d.URL,
	})
}

// Unsubscribe holds the addresses at which a reader ends bulk mail: Page for a person, and Post for a mail
// program, which posts one request there (RFC 8058). A GET of either changes nothing.
type Unsubscribe struct{ Page, Post string }

// Following asks somebody whether they want to follow an organization. With url they confirm that.
func Following(to Envelope, organization, url string, end Unsubscribe) Message {
	m := composeMessage("following", to, values{"Organization": cleanLabel(organization), "URL": url, "Unsubscribe": end.Page})
	m.Unsubscribe = end.Post
	return m
}

// EventPublished tells somebody who follows an organization of its new event.
func EventPublished(to Envelope, e *Event, url string, end Unsubscribe) Message {
	m := composeMessage("event_published", to, values{"Event": e.templateValues(to.words()), "URL": webLink(url), "Unsubscribe": end.Page})
	m.Unsubscribe = end.Post
	return m
}

// Broadcast is an organizer's mail to the people who attend an event. safe must be HTML that Sanitize has
// made. replyTo is as Message.ReplyTo.
func Broadcast(to Envelope, e *Event, subject, safe, replyTo string, end Unsubscribe) Message {
	m := composeMessage("broadcast", to, values{
		"Event": e.templateValues(to.words()), "Title": oneLine(subject), "HTML": htmltemplate.HTML(safe), "Lines": plainText(safe), "Unsubscribe": end.Page, "Replies": true, //nolint:gosec // Sanitize has made it
	})
	m.Unsubscribe, m.ReplyTo = end.Post, replyTo
	return m
}

// Contact is an organization's mail to one of its customers. The customer answers to replyTo.
func Contact(to Envelope, organization, subject, body, replyTo string) Message {
	m := composeMessage("contact", to, values{"Organization": cleanLabel(organization), "Title": oneLine(subject), "Body": splitWritten(body), "Replies": true})
	m.ReplyTo = replyTo
	return m
}

// splitWritten splits what somebody wrote into lines and keeps empty lines between them.
func splitWritten(body string) []string {
	var out []string
	for line := range strings.Lines(strings.TrimSpace(body)) {
		out = append(out, oneLine(line))
	}
	return out
}

// values are what a mail's template shows, by the names that the template uses. A name that a stranger may have
// typed must have gone through cleanLabel.
type values map[string]any

//go:embed templates
var files embed.FS

// forms holds the templates of all mails, by language and kind.
var forms = readForms()

// readForms parses the templates. Each defines "subject" and "body"; the file layout.txt of a language defines
// what all its mails share. readForms panics if a template does not parse, because templates are part of
// the program.
func readForms() (all [len(wordsOf)]map[string]*template.Template) {
	for _, l := range Languages {
		under := "templates/" + l.String()
		shared := template.Must(template.New("").Option("missingkey=error").Funcs(marks).ParseFS(files, under+"/layout.txt"))
		names, err := fs.Glob(files, under+"/*.txt")
		if err != nil {
			panic(err)
		}
		all[l] = map[string]*template.Template{}
		for _, name := range names {
			if kind := strings.TrimSuffix(path.Base(name), ".txt"); kind != "layout" {
				all[l][kind] = template.Must(template.Must(shared.Clone()).ParseFS(files, name))
			}
		}
	}
	return all
}

// composeMessage fills the template of a kind in the reader's language.
func composeMessage(kind string, to Envelope, v values) Message {
	f := forms[to.Language][kind]
	m := Message{ID: to.ID, Kind: kind, To: to.To, ToName: cleanLabel(to.Name)}
	data := values{"Name": m.ToName, "Replies": false, "Organizer": ""}
	maps.Copy(data, v)
	shown := shownMail{Language: to.Language}
	if e, ok := v["Event"].(values); ok {
		shown.Cover, _ = e["Cover"].(string)
		shown.Title, _ = e["Title"].(string)
		data["Organizer"] = e["Organizer"]
	}
	m.Subject = oneLine(fillTemplate(f, "subject", data))
	hello, foot := fillTemplate(f, "hello", data), fillTemplate(f, "foot", data)
	blocks := readBlocks(fillTemplate(f, "body", data))
	m.Text = hello + "\n\n" + writeText(blocks, to.words()) + "\n--\n" + foot + "\n"
	shown.Subject, shown.Hello, shown.Blocks, shown.Foot = m.Subject, hello, blocks, foot
	m.HTML = writeHTML(&shown)
	return m
}

// fillTemplate executes a template. It panics if that fails, because that is a defect which the template's
// golden test finds.
func fillTemplate(f *template.Template, name string, data values) string {
	var b strings.Builder
	if err := f.ExecuteTemplate(&b, name, data); err != nil {
		panic(err)
	}
	return b.String()
}

// maxLabel is the most characters that cleanLabel keeps of a stranger's text.
const maxLabel = 100

var (
	scheme = regexp.MustCompile(`[:/\\]{2,}`)
	// No top-level domain has only one letter, so no mail program makes a link of "e.V.".
	domain = regexp.MustCompile(`[.。．｡](\pL[\pL\pM\pN]|\pN)`)
)

// cleanLabel makes a name that a stranger typed safe for a mail of ours: one short line, with nothing
// that a mail program would turn into a link. An attacker who registers a victim's address under
// the name "Win at evil.example" must not get us to deliver that advertisement.
func cleanLabel(s string) string {
	s = unlinkLine(oneLine(s))
	if r := []rune(s); len(r) > maxLabel {
		s = string(r[:maxLabel]) + "…"
	}
	return s
}

// unlinkLine removes from a line what a mail program would turn into a link.
func unlinkLine(line string) string { return strings.Join(strings.Fields(Unlinked(line)), " ") }

// Unlinked changes a text so that a mail program finds no link in it. It removes unprintable characters first:
// a link with such a character inside would escape, and become whole once the character is removed.
func Unlinked(text string) string {
	text = dropUnprintable(text)
	return strings.ReplaceAll(domain.ReplaceAllString(scheme.ReplaceAllString(text, " "), ". $1"), "@", " at ")
}

// oneLine removes unprintable characters, among them the marks that reverse the direction of writing, and
// makes one space of each run of spaces and line ends. So neither a header nor a line can end within s. It
// also breaks up encoded words, because mail programs decode them (RFC 2047).
func oneLine(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(dropUnprintable(s)), " "), "=?", "= ?")
}

// dropUnprintable removes characters that are neither printed nor space.
func dropUnprintable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, ""))
}
