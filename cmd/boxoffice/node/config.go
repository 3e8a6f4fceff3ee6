package node

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"boxoffice/edge/mail"
	"boxoffice/edge/payments/transfer"
	"boxoffice/edge/rooms"
	"boxoffice/edge/secrets"
	"boxoffice/edge/webhook"
	"boxoffice/edge/witness"
	"boxoffice/engine"
	"boxoffice/engine/draw"
	"boxoffice/persistence/follower/kafka"
)

// Config is the table of all knobs. Each knob is one row with its flag, its environment variable,
// its default and its help. Fields without a variable are set by tests or by commands.
type Config struct {
	Now               func() time.Time `kong:"-"` // tests set the clock; nil: the machine's
	Crowd             bool             `kong:"-"` // people on this machine may let in a crowd of simulated buyers
	Listen            string           `env:"BOXOFFICE_LISTEN" default:"127.0.0.1:8080" help:"Address of the API."`
	DataDir           string           `env:"BOXOFFICE_DATA_DIR" default:"./data" help:"Where the private Postgres and the master key live."`
	DiskWarn          uint             `env:"BOXOFFICE_DISK_WARN_MB" default:"512" help:"Megabytes free where the data directory is, below which the node warns."`
	DiskReserve       uint             `env:"BOXOFFICE_DISK_RESERVE_MB" default:"64" help:"Of those, the ones that a private Postgres keeps free: with less, nothing is sold or changed until there is room. It needs one segment of its log, 16 MB, and what is under way."`
	BaseURL           string           `env:"BOXOFFICE_BASE_URL" help:"How buyers reach the API; http://<listen> if empty."`
	Language          string           `env:"BOXOFFICE_LANGUAGE" enum:"en,de" default:"en" help:"Language of mails to people who ask for none, by their account or their browser."`
	Env               string           `env:"BOXOFFICE_ENV" enum:"live,test" default:"test" help:"What this deployment is pinned to."`
	DatabaseURL       string           `env:"BOXOFFICE_DATABASE_URL" secret:"" help:"Postgres to use instead of a private one."`
	JournalURL        string           `env:"BOXOFFICE_JOURNAL_URL" secret:"" help:"Postgres for the journal alone, beside that of BOXOFFICE_DATABASE_URL; in the same database if empty."`
	JournalURLs       []string         `name:"journal-urls" env:"BOXOFFICE_JOURNAL_URLS" secret:"" sep:" " help:"Several of them, with spaces between them, always in the same order: each has the journal of its share of the events."`
	MasterKey         string           `env:"BOXOFFICE_MASTER_KEY" secret:"" help:"64 hex digits from which all secrets are derived; required with a database URL, else kept in the data directory."`
	Node              string           `env:"BOXOFFICE_NODE" default:"node-1" help:"This node's name; one process at a time may bear it."`
	Cluster           string           `env:"BOXOFFICE_CLUSTER" enum:",postgres,etcd,static" default:"" help:"How nodes find each other: postgres (leases in the database), etcd, or static (BOXOFFICE_MEMBERS); alone if empty."`
	LinkListen        string           `env:"BOXOFFICE_LINK_LISTEN" default:"127.0.0.1:0" help:"Address for the other nodes' links."`
	LinkAddress       string           `env:"BOXOFFICE_LINK_ADDRESS" help:"Where the other nodes reach that address; as it is if empty."`
	LinkCert          string           `env:"BOXOFFICE_LINK_CERT" help:"Certificate file of this node, for links over mutual TLS; in the clear if empty."`
	LinkKey           string           `env:"BOXOFFICE_LINK_KEY" help:"Key file of the certificate."`
	LinkCA            string           `env:"BOXOFFICE_LINK_CA" help:"File of the authority whose certificates nodes show each other."`
	Members           []string         `env:"BOXOFFICE_MEMBERS" help:"With static: all nodes, as name=host:port."`
	EtcdEndpoints     []string         `env:"BOXOFFICE_ETCD_ENDPOINTS" help:"With etcd: its addresses, as http://host:2379, or https:// with the certificates of the links."`
	EtcdPrefix        string           `env:"BOXOFFICE_ETCD_PREFIX" default:"boxoffice" help:"With etcd: what the cluster's keys begin with; clusters that share an etcd need one each."`
	Beat              time.Duration    `env:"BOXOFFICE_BEAT" default:"400ms" help:"With postgres: between two signs of life of a node."`
	Lease             time.Duration    `env:"BOXOFFICE_LEASE" default:"1500ms" help:"Without a sign of life, until a node is taken for dead; with etcd in whole seconds, 2 at least."`
	TrustedProxies    []string         `env:"BOXOFFICE_TRUSTED_PROXIES" help:"Addresses or CIDRs whose X-Forwarded-For is believed."`
	LimitsScale       float64          `env:"BOXOFFICE_LIMITS_SCALE" default:"1" help:"Multiplies every rate limit, velocity rule, those of held seats too, and cap of mails; for load tests."`
	Origins           []string         `env:"BOXOFFICE_CORS_ORIGINS" default:"*" help:"Origins whose browser pages may call the API; * for all."`
	PublicCache       bool             `env:"BOXOFFICE_PUBLIC_CACHE" default:"true" negatable:"" help:"Let clients and proxies keep public reads without credentials for a second."`
	MaxPerAddress     int              `env:"BOXOFFICE_MAX_CONNS_PER_ADDRESS" default:"4096" help:"Open connections of one client address."`
	MaxConnections    int              `env:"BOXOFFICE_MAX_CONNS" default:"18000" help:"Open connections in all; keep it below the limit of open files."`
	MaxViewers        int              `env:"BOXOFFICE_MAX_VIEWERS" default:"20000" help:"Live streams of this node; keep it below the connections."`
	ViewersPerAddress int              `env:"BOXOFFICE_MAX_VIEWERS_PER_ADDRESS" default:"256" help:"Live streams of one client address."`
	Currencies        []string         `env:"BOXOFFICE_CURRENCIES" default:"USD,NGN,ZAR" help:"Currencies of prices, by ISO 4217, each with its own decimals (0, 2 or 3); the first is that of events which name none, unless USD is listed."`
	PaystackURL       string           `env:"BOXOFFICE_PAYSTACK_URL" help:"Address of Paystack; the private simulator's in test without a key."`
	PaystackKey       string           `env:"BOXOFFICE_PAYSTACK_KEY" secret:"" help:"Paystack's secret key."`
	NOWPaymentsURL    string           `env:"BOXOFFICE_NOWPAYMENTS_URL" help:"Address of NOWPayments, to /v1; that of the live service if empty."`
	NOWPaymentsKey    string           `env:"BOXOFFICE_NOWPAYMENTS_KEY" secret:"" help:"NOWPayments' API key; with one, buyers who name no provider pay with coins."`
	NOWPaymentsSecret string           `env:"BOXOFFICE_NOWPAYMENTS_IPN_SECRET" secret:"" help:"The secret that NOWPayments signs its notices with."`
	FlutterwaveURL    string           `env:"BOXOFFICE_FLUTTERWAVE_URL" help:"Address of Flutterwave, to /v3; that of the live service if empty."`
	FlutterwaveKey    string           `env:"BOXOFFICE_FLUTTERWAVE_KEY" secret:"" help:"Flutterwave's secret key."`
	FlutterwaveHash   string           `env:"BOXOFFICE_FLUTTERWAVE_SECRET_HASH" secret:"" help:"The secret hash that Flutterwave's notices carry."`
	StripeURL         string           `env:"BOXOFFICE_STRIPE_URL" help:"Address of Stripe, to /v1; that of the live service if empty."`
	StripeKey         string           `env:"BOXOFFICE_STRIPE_KEY" secret:"" help:"Stripe's secret key, or a restricted one for checkout sessions, payment intents and refunds."`
	StripeSecrets     string           `env:"BOXOFFICE_STRIPE_WEBHOOK_SECRET" secret:"" help:"The secret of Stripe's webhook endpoint; two with a comma between them while one replaces the other."`
	BeaconURL         []string         `env:"BOXOFFICE_BEACON_URL" help:"Relays of the beacon that draws of waiting rooms go by, tried in turn, or test for rounds that this deployment signs itself and that prove nothing; drand's own relays if empty, or test with a private Postgres."`
	WitnessURL        string           `env:"BOXOFFICE_WITNESS_URL" help:"Address of a time-stamping authority (RFC 3161) that signs the statements of draws before their round is known; none if empty."`
	BeaconChain       string           `env:"BOXOFFICE_BEACON_CHAIN" help:"File with what a relay answers at /info of another chain than drand's quicknet."`
	MollieURL         string           `env:"BOXOFFICE_MOLLIE_URL" help:"Address of Mollie, to /v2; that of the live service if empty."`
	MollieKey         string           `env:"BOXOFFICE_MOLLIE_KEY" secret:"" help:"Mollie's API key, test_... or live_...; it proves Mollie's notices too."`
	PayPalURL         string           `env:"BOXOFFICE_PAYPAL_URL" help:"Address of PayPal; that of the live service if empty. The sandbox is at https://api-m.sandbox.paypal.com."`
	PayPalKey         string           `env:"BOXOFFICE_PAYPAL_KEY" secret:"" help:"PayPal's client id and secret, with a colon between them."`
	PayPalHook        string           `env:"BOXOFFICE_PAYPAL_WEBHOOK_ID" help:"The id of PayPal's webhook, by which its notices are proven."`
	TransferAccount   string           `env:"BOXOFFICE_TRANSFER_ACCOUNT" help:"The bank account to which buyers transfer money, as Holder|IBAN or Holder|IBAN|BIC; what is no IBAN is shown as it stands. Without it nobody pays by transfer."`
	TransferDays      int              `env:"BOXOFFICE_TRANSFER_DAYS" default:"7" help:"How many days an order waits for its transfer, 1 to 30, and never past the end of the sale."`
	TransferIn        []string         `env:"BOXOFFICE_TRANSFER_CURRENCIES" help:"Currencies that the account takes, by ISO 4217; all that are sold in if empty."`
	PaysimListen      string           `env:"BOXOFFICE_PAYSIM_LISTEN" default:"127.0.0.1:8081" help:"Address of the private payment simulator, in test without a Paystack key."`
	PaysimProviders   []string         `env:"BOXOFFICE_PAYSIM_PROVIDERS" default:"paystack,flutterwave,nowpayments,stripe,mollie,paypal,transfer" help:"What the private payment simulator is beside Paystack; those with a key or an account of their own are left to it."`
	PaysimCallbacks   bool             `env:"BOXOFFICE_PAYSIM_CALLBACKS" default:"true" negatable:"" help:"Have the private payment simulator tell this node of payments, as providers do."`
	SMTPURL           string           `env:"BOXOFFICE_SMTP_URL" secret:"" help:"Mail server: smtps://user:password@host:465, or smtp://host:587 with STARTTLS; smtp+plain:// never encrypts. Mail is captured in test if empty."`
	MailDir           string           `env:"BOXOFFICE_MAIL_DIR" help:"Where mail is captured, without a mail server; <data dir>/mail if empty."`
	MailFrom          string           `env:"BOXOFFICE_MAIL_FROM" help:"Sender of mail, such as Boxoffice <tickets@example.org>; required with a mail server."`
	WebhooksPrivate   bool             `env:"BOXOFFICE_WEBHOOK_ALLOW_PRIVATE" help:"Let webhooks go to private addresses, over plain HTTP and to any port; for tests, refused in live."`
	AdminEmail        string           `env:"BOXOFFICE_ADMIN_EMAIL" help:"The platform's first administrator, made or promoted at start; none if empty."`
	AdminPassword     string           `env:"BOXOFFICE_ADMIN_PASSWORD" secret:"" help:"The administrator's first password, of 8 to 128 characters."`
	MediaURL          string           `env:"BOXOFFICE_MEDIA_URL" secret:"" help:"Bucket for uploaded files: s3://key:secret@bucket?endpoint=https://host:9000&region=name, AWS's own without an endpoint, the AWS variables' or the machine's credentials without a key; <data dir>/media if empty. Several nodes need a bucket, or one directory that they share."`
	MediaVideoMB      int              `env:"BOXOFFICE_MEDIA_VIDEO_MB" default:"500" help:"Megabytes (of 2^20 bytes) that an uploaded video may have."`
	MediaQuotaMB      int              `env:"BOXOFFICE_MEDIA_QUOTA_MB" default:"20480" help:"Megabytes that all files of an organization may take."`
	WriteQuotaMB      int              `env:"BOXOFFICE_WRITE_QUOTA_MB" default:"20480" help:"Megabytes (of 2^20 bytes) that an organization may write in a day of UTC once somebody has paid an order of it."`
	KafkaBrokers      []string         `env:"BOXOFFICE_KAFKA_BROKERS" help:"Brokers, host:port, of the Kafka that facts go through (docs/kafka.md); without it they are followed in the journal."`
	KafkaTopic        string           `env:"BOXOFFICE_KAFKA_TOPIC" default:"boxoffice.facts" help:"Topic of the facts; made if it is missing. A new one gets all facts from the first on."`
	KafkaPartitions   int              `env:"BOXOFFICE_KAFKA_PARTITIONS" default:"12" help:"Partitions of a topic that is made."`
	KafkaReplication  int              `env:"BOXOFFICE_KAFKA_REPLICATION" default:"3" help:"Replicas of a topic that is made, at most one on each broker."`
	KafkaRetention    time.Duration    `env:"BOXOFFICE_KAFKA_RETENTION" default:"168h" help:"How long a topic that is made keeps facts."`
	KafkaTLS          bool             `env:"BOXOFFICE_KAFKA_TLS" help:"Speak TLS to the brokers."`
	KafkaUser         string           `env:"BOXOFFICE_KAFKA_USER" help:"User at the brokers (SASL PLAIN); none if empty."`
	KafkaPassword     string           `env:"BOXOFFICE_KAFKA_PASSWORD" secret:"" help:"The user's password."`
	JournalRetention  time.Duration    `env:"BOXOFFICE_JOURNAL_RETENTION" default:"840h" help:"How long the journal keeps days that snapshots cover; what people have had erased is in them until then. At least 24h; 0: for ever."`
	Demo              bool             `env:"BOXOFFICE_DEMO" default:"true" negatable:"" help:"Put a demo event on sale on a new private node."`
	AllowUnsafe       bool             `env:"BOXOFFICE_ALLOW_UNSAFE_POSTGRES" help:"Run on a Postgres that may forget commits."`
	AllowInstall      bool             `env:"BOXOFFICE_ALLOW_INSTALL" default:"true" negatable:"" help:"Install Debian's Postgres when there is none and we may."`
	Lanes             int              `env:"BOXOFFICE_LANES" default:"1" help:"Journal lanes of the node."`
	HeapRoom          int              `env:"BOXOFFICE_HEAP_ROOM" default:"0" help:"Megabytes that may be allocated between two collections of garbage, kept ready for a rush while no orders come; an eighth of the memory at -1, none at 0."`
	MetricsListen     string           `env:"BOXOFFICE_METRICS_LISTEN" help:"Address that serves /metrics, for Prometheus alone; if empty, only programs on this machine read it, at the API's address."`
	Pprof             string           `env:"BOXOFFICE_PPROF_LISTEN" help:"Loopback address for profiles; none if empty."`
	LogLevel          slog.Level       `env:"BOXOFFICE_LOG_LEVEL" default:"INFO" help:"DEBUG, INFO, WARN or ERROR."`
}

// Print logs every knob with its value. Secrets are masked.
func (c *Config) Print(log *slog.Logger) {
	v, t := reflect.ValueOf(*c), reflect.TypeOf(*c)
	attrs := make([]any, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("env") == "" {
			continue // The field is no knob: only tests or commands set it.
		}
		value := fmt.Sprint(v.Field(i).Interface())
		if _, secret := f.Tag.Lookup("secret"); secret && !v.Field(i).IsZero() {
			value = "[secret]"
		}
		attrs = append(attrs, slog.String(strings.ToLower(f.Tag.Get("env")), value))
	}
	log.Info("configuration", attrs...)
}

// Private reports whether the node runs a Postgres of its own, which no other node uses.
func (c *Config) Private() bool { return c.DatabaseURL == "" }

// Apart reports whether the journal has one or several databases of its own. It also returns true for settings
// that cannot be read, because somebody meant to set them; the start will refuse them.
func (c *Config) Apart() bool {
	urls, err := JournalURLs(c.JournalURL, c.JournalURLs)
	return len(urls) > 0 || err != nil
}

// drandURLs are public relays of drand's randomness, tried in turn.
var drandURLs = []string{"https://api.drand.sh", "https://drand.cloudflare.com"}

// makeBeacon returns the source of randomness for the draws of waiting rooms. A private node without a configured
// relay, or any node that is given the relay "test", signs its own rounds and needs no network. Such rounds prove
// nothing.
func (c *Config) makeBeacon(m *secrets.Master) (*rooms.Beacon, error) {
	urls := c.BeaconURL
	if len(urls) == 0 {
		if urls = drandURLs; c.Private() {
			urls = []string{"test"}
		}
	}
	if urls[0] == "test" {
		return rooms.TestBeacon(m.TestBeacon()), nil
	}
	chain := draw.Quicknet()
	if c.BeaconChain != "" {
		info, err := os.ReadFile(c.BeaconChain)
		if err != nil {
			return nil, fmt.Errorf("BOXOFFICE_BEACON_CHAIN: %w", err)
		}
		if chain, err = draw.ReadChain(info); err != nil {
			return nil, fmt.Errorf("BOXOFFICE_BEACON_CHAIN: %w", err)
		}
	}
	return rooms.NewBeacon(chain, urls), nil
}

// makeWitness returns the outside witness of draws, or nil if none is configured. It does not call
// the witness yet.
func (c *Config) makeWitness() *witness.Authority {
	if c.WitnessURL == "" {
		return nil
	}
	return witness.New(c.WitnessURL)
}

// runsSimulator reports whether payments are simulated: in test, without a key for Paystack. The node then runs
// the simulator itself, unless BOXOFFICE_PAYSTACK_URL names another one.
func (c *Config) runsSimulator() bool { return c.Env == "test" && c.PaystackKey == "" }

// simulatorHooks returns the address to which the simulator sends a provider's webhooks, or "" if it sends none.
// The webhooks come to the node itself.
func (c *Config) simulatorHooks(provider string) string {
	if !c.PaysimCallbacks {
		return ""
	}
	return "http://" + c.Listen + "/api/v1/payments/webhook/" + provider
}

// mailOrigin returns the sender of mail. In live it refuses a node without a mail server. Only a node that
// captures its mail has a default: with a real mail server, mail from a made-up sender would be refused or lost.
func (c *Config) mailOrigin() (mail.Origin, error) {
	from := c.MailFrom
	switch {
	case c.SMTPURL == "" && c.Env == "live":
		return mail.Origin{}, errors.New("BOXOFFICE_SMTP_URL is required in live: without it nobody gets a login code or a ticket")
	case c.SMTPURL == "" && from == "":
		from = "Boxoffice <boxoffice@localhost>"
	case from == "":
		return mail.Origin{}, errors.New("BOXOFFICE_MAIL_FROM is required with BOXOFFICE_SMTP_URL")
	}
	origin, err := mail.ParseOrigin(from)
	if err != nil {
		return mail.Origin{}, fmt.Errorf("BOXOFFICE_MAIL_FROM: %w", err)
	}
	return origin, nil
}

// webhookTargets returns which addresses webhooks may be sent to. Private addresses are for tests
// alone.
func (c *Config) webhookTargets() (*webhook.Targets, error) {
	if c.WebhooksPrivate && c.Env == "live" {
		return nil, errors.New("BOXOFFICE_WEBHOOK_ALLOW_PRIVATE is refused in live: a webhook could reach what is behind the firewall")
	}
	return webhook.NewTargets(c.WebhooksPrivate), nil
}

// readRetention returns how long the journal keeps its days; 0 means for ever. It refuses less than
// a day, which can only be a mistake.
func (c *Config) readRetention() (time.Duration, error) {
	if c.JournalRetention != 0 && c.JournalRetention < 24*time.Hour {
		return 0, errors.New("BOXOFFICE_JOURNAL_RETENTION must be 24h or more, or 0 to keep all days")
	}
	return c.JournalRetention, nil
}

// Kafka returns the configuration of Kafka, and whether facts go through Kafka at all. In live it refuses a user
// without TLS.
func (c *Config) Kafka() (cfg kafka.Config, through bool, err error) {
	if len(c.KafkaBrokers) == 0 {
		return kafka.Config{}, false, nil
	}
	cfg = kafka.Config{
		Brokers: c.KafkaBrokers, User: c.KafkaUser, Password: c.KafkaPassword,
		Topic: c.KafkaTopic, Partitions: c.KafkaPartitions, Replication: c.KafkaReplication, Retention: c.KafkaRetention,
	}
	if c.KafkaTLS {
		cfg.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if c.KafkaUser != "" && !c.KafkaTLS && c.Env == "live" {
		return cfg, true, errors.New("BOXOFFICE_KAFKA_USER needs BOXOFFICE_KAFKA_TLS in live: the password would be sent in the clear")
	}
	return cfg, true, nil
}

// checkAdmin refuses an administrator's password that the login would refuse, so that the mistake shows at the
// start. Without an administrator (AdminEmail) it refuses nothing.
func (c *Config) checkAdmin() error {
	if n := utf8.RuneCountInString(c.AdminPassword); c.AdminEmail != "" && (n < 8 || n > 128) {
		return errors.New("BOXOFFICE_ADMIN_PASSWORD must have 8 to 128 characters")
	}
	return nil
}

// readCurrencies reads the currencies in which the deployment sells.
func (c *Config) readCurrencies() ([]engine.Currency, error) {
	all, err := engine.ParseCurrencies(c.Currencies)
	if err != nil {
		return nil, fmt.Errorf("BOXOFFICE_CURRENCIES: %w", err)
	}
	return all, nil
}

// simulatedAccount is the bank account that a test node shows to buyers: an IBAN from
// documentation, to which no money comes.
const simulatedAccount = "Boxoffice Test|DE89370400440532013000|COBADEFFXXX"

// readTransferAccount returns the bank account for transfers, with the time that a transfer may take and the currencies.
// An account without a holder means that nobody pays by transfer. Without a configured account, a node with a simulator
// that is to offer transfers gets an example's account.
func (c *Config) readTransferAccount() (a transfer.Account, err error) {
	text := c.TransferAccount
	if text == "" && c.runsSimulator() && slices.Contains(c.PaysimProviders, transfer.Name) {
		text = simulatedAccount
	}
	if text == "" {
		return a, nil
	}
	if a, err = transfer.ParseAccount(text); err != nil {
		return a, fmt.Errorf("BOXOFFICE_TRANSFER_ACCOUNT %w", err)
	}
	// A transfer takes days, so such orders stay open much longer than others.
	if a.Window = time.Duration(c.TransferDays) * 24 * time.Hour; a.Window < transfer.MinWindow || a.Window > transfer.MaxWindow {
		return a, errors.New("BOXOFFICE_TRANSFER_DAYS must be 1 to 30")
	}
	takes := c.TransferIn
	if len(takes) == 0 {
		takes = c.Currencies
	}
	all, err := engine.ParseCurrencies(takes)
	if err != nil {
		return a, fmt.Errorf("BOXOFFICE_TRANSFER_CURRENCIES: %w", err)
	}
	for i := range all {
		a.Currencies = append(a.Currencies, all[i].Code)
	}
	return a, nil
}

// readProxies reads the networks of trusted proxies. A single address is a network of one.
func (c *Config) readProxies() ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range c.TrustedProxies {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			a, err := netip.ParseAddr(s)
			if err != nil {
				return nil, fmt.Errorf("BOXOFFICE_TRUSTED_PROXIES: %q is neither an address nor a CIDR", s)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		out = append(out, p)
	}
	return out, nil
}

// readMasterKey reads the master key. A node with a private Postgres makes one in the data
// directory if there is none. All other nodes must be given it, because they share the key with
// each other.
func (c *Config) readMasterKey() (*secrets.Master, error) {
	text := c.MasterKey
	if text == "" {
		if !c.Private() {
			return nil, errors.New("BOXOFFICE_MASTER_KEY is required with BOXOFFICE_DATABASE_URL")
		}
		var err error
		if text, err = KeptKey(filepath.Join(c.DataDir, "master.key")); err != nil {
			return nil, err
		}
	}
	key, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New("the master key must be 64 hex digits")
	}
	return secrets.New(key)
}

// KeptKey returns the key in a file. If there is no file, it makes a key and stores it there,
// readable by its owner alone.
func KeptKey(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err == nil {
		return string(b), nil
	}
	// Any other error must not make a new key: everything that the old key protects would be lost.
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("master key: %w", err)
	}
	var key [secrets.KeySize]byte
	_, _ = rand.Read(key[:]) // never fails
	text := hex.EncodeToString(key[:])
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // Postgres's user must get through
		return "", fmt.Errorf("master key: %w", err)
	}
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("master key: %w", err)
	}
	return text, nil
}
