package nodetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
)

// Clustered changes a node's configuration so that it is a member of a cluster. An empty database
// leaves the node's own.
func Clustered(name, database string, more ...func(*node.Config)) func(*node.Config) {
	return func(c *node.Config) {
		c.Cluster, c.Node, c.LinkListen = "postgres", name, "127.0.0.1:0"
		c.Beat, c.Lease = 50*time.Millisecond, 10*time.Second // so that a busy machine makes no node count as dead
		if database != "" {
			c.DatabaseURL = database
		}
		for _, change := range more {
			change(c)
		}
	}
}

// Certificates writes a certificate, its key and the authority's certificate to files, and
// configures a node to use them for its links. One certificate serves as both, so that nodes trust
// each other.
func Certificates(t *testing.T) func(*node.Config) {
	dir := t.TempDir()
	save := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, // it is both the authority's and the node's
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return func(cfg *node.Config) {
		cfg.LinkCert, cfg.LinkKey = save("tls.crt", "CERTIFICATE", der), save("tls.key", "PRIVATE KEY", private)
		cfg.LinkCA = save("ca.crt", "CERTIFICATE", der)
	}
}
