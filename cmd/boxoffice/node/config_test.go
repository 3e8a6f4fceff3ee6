package node

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestKafkaKnobs(t *testing.T) {
	t.Parallel()
	c := Config{KafkaBrokers: []string{"k:9092"}, KafkaUser: "u", Env: "live"}
	_, _, err := c.Kafka()
	require.ErrorContains(t, err, "BOXOFFICE_KAFKA_TLS")
	c.KafkaTLS = true
	k, through, err := c.Kafka()
	require.NoError(t, err)
	require.True(t, through)
	require.NotNil(t, k.TLS)
	_, through, err = new(Config).Kafka()
	require.NoError(t, err)
	require.False(t, through)
}

func TestMailConfiguration(t *testing.T) {
	t.Parallel()
	const url = "smtps://user:sesame@mail.example.org"
	for name, c := range map[string]struct {
		config Config
		refuse string
	}{
		"test captures":     {Config{Env: "test"}, ""},
		"test sends":        {Config{Env: "test", SMTPURL: url, MailFrom: "Boxoffice <tickets@example.org>"}, ""},
		"live sends":        {Config{Env: "live", SMTPURL: url, MailFrom: "tickets@example.org"}, ""},
		"live must send":    {Config{Env: "live", MailFrom: "tickets@example.org"}, "BOXOFFICE_SMTP_URL is required"},
		"as somebody":       {Config{Env: "live", SMTPURL: url}, "BOXOFFICE_MAIL_FROM is required"},
		"with an address":   {Config{Env: "test", MailFrom: "tickets"}, "BOXOFFICE_MAIL_FROM"},
		"to a known server": {Config{Env: "test", SMTPURL: "http://user:sesame@host", MailFrom: "tickets@example.org"}, "BOXOFFICE_SMTP_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.config.MailDir = t.TempDir()
			n := &Node{cfg: &c.config, log: slog.New(slog.DiscardHandler)}
			err := n.startMail(t.Context())
			if c.refuse == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.refuse)
				require.NotContains(t, err.Error(), "sesame")
			}
			require.NoError(t, n.Stop(context.Background()))
		})
	}
}

func TestWebhooksStayPublicInLive(t *testing.T) {
	t.Parallel()
	_, err := (&Config{Env: "live", WebhooksPrivate: true}).webhookTargets()
	require.ErrorContains(t, err, "BOXOFFICE_WEBHOOK_ALLOW_PRIVATE is refused in live")
	_, err = (&Config{Env: "live"}).webhookTargets()
	require.NoError(t, err)
}

func TestRetentionIsOfDays(t *testing.T) {
	t.Parallel()
	for _, keep := range []time.Duration{0, 24 * time.Hour, 840 * time.Hour} {
		got, err := (&Config{JournalRetention: keep}).readRetention()
		require.NoError(t, err)
		require.Equal(t, keep, got)
	}
	for _, keep := range []time.Duration{-time.Hour, time.Nanosecond, 24*time.Hour - 1} {
		_, err := (&Config{JournalRetention: keep}).readRetention()
		require.ErrorContains(t, err, "BOXOFFICE_JOURNAL_RETENTION")
	}
}
