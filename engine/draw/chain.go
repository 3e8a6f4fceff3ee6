package draw

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// chainInfo is a chain as a drand node describes it at /info.
type chainInfo struct {
	PublicKey Bytes `json:"public_key"`
	Period    int64 `json:"period"`
	Genesis   int64 `json:"genesis_time"`
	Hash      Hash  `json:"hash"`
	GroupHash Bytes `json:"groupHash"`
	Metadata  struct {
		BeaconID string `json:"beaconID"`
	} `json:"metadata"`
}

// testBeaconID is the name of the chain of a TestBeacon.
const testBeaconID = "boxoffice-test"

// ReadChain reads what a drand node answers at /info. It returns an error unless the chain's hash
// fits its key and its times. Rules that name the hash of a chain therefore also fix its key.
func ReadChain(info []byte) (*Chain, error) {
	var i chainInfo
	if err := json.Unmarshal(info, &i); err != nil {
		return nil, fmt.Errorf("draw: the description of a chain: %w", err)
	}
	if i.Period < 1 || i.Period > 1<<31 || i.Genesis < 0 || i.Genesis > 1<<40 {
		return nil, fmt.Errorf("%w: no chain begins at %d and signs every %d s", ErrBeacon, i.Genesis, i.Period)
	}
	c := &Chain{Key: i.PublicKey, Genesis: i.Genesis, Period: i.Period, Test: i.Metadata.BeaconID == testBeaconID}
	if c.Hash = hashOfTest(c); !c.Test {
		c.Hash = hashOfDrand(c, i.GroupHash, i.Metadata.BeaconID)
	}
	if c.Hash != i.Hash {
		return nil, fmt.Errorf("%w: the chain's key and times have the hash %s, not %s", ErrBeacon, c.Hash, i.Hash)
	}
	return c, nil
}

// Info returns the description of a TestBeacon's chain that ReadChain reads.
func (b *TestBeacon) Info() ([]byte, error) {
	i := chainInfo{PublicKey: b.Chain.Key, Period: b.Chain.Period, Genesis: b.Chain.Genesis, Hash: b.Chain.Hash}
	i.Metadata.BeaconID = testBeaconID
	return json.Marshal(i)
}

// hashOfDrand computes a chain's hash in the way in which drand does it for chains with a name.
func hashOfDrand(c *Chain, group []byte, name string) Hash {
	b := binary.BigEndian.AppendUint32(nil, uint32(c.Period)) //nolint:gosec // bounded
	b = binary.BigEndian.AppendUint64(b, uint64(c.Genesis))   //nolint:gosec // bounded
	b = append(append(append(b, c.Key...), group...), name...)
	return sha256.Sum256(b)
}

// hashOfTest computes the hash of a TestBeacon's chain. It has a domain of its own, so it can't be
// the hash of a real chain.
func hashOfTest(c *Chain) Hash {
	b := appendField([]byte(testDomain), c.Key)
	b = appendNumber(b, uint64(c.Genesis))                  //nolint:gosec // the bits count
	return sha256.Sum256(appendNumber(b, uint64(c.Period))) //nolint:gosec // the bits count
}
