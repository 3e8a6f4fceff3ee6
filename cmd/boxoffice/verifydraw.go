package main

import (
	"bufio"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"boxoffice/edge/witness"
	"boxoffice/engine/draw"
)

// verifyDrawCmd checks the draw of a waiting room from files alone, so that nobody has to trust the
// operator (docs/waiting-room.md).
type verifyDrawCmd struct {
	Draw    string     `arg:"" type:"existingfile" help:"The draw's document, as the service publishes it."`
	Receipt string     `help:"A visitor's receipt."`
	Proof   string     `type:"existingfile" help:"The inclusion proof of the receipt's leaf: JSON with index and proof."`
	Leaves  string     `type:"existingfile" help:"The list of all leaves: 64 hexadecimal digits a line. Prints every place."`
	Signer  draw.Bytes `help:"The operator's public key, if you know it from elsewhere: 64 hexadecimal digits."`
	Chain   string     `type:"existingfile" help:"Another chain than drand's quicknet: what a node of it answers at /info."`
	Witness string     `type:"existingfile" help:"The certificates (PEM) of time-stamping authorities that you trust as the draw's outside witness."`
	Rival   string     `type:"existingfile" help:"A second document: prove that both are of one draw, signed by one key, and differ."`
}

// Run checks the files and prints what it has checked, and also what it could not check.
func (c verifyDrawCmd) Run() error { return c.verify(os.Stdout) }

// verify checks the document first and then everything that was given beside it. If a rival was given, it only checks
// that the two documents contradict each other. It uses no network.
func (c verifyDrawCmd) verify(out io.Writer) error {
	chain := draw.Quicknet()
	if c.Chain != "" {
		info, err := os.ReadFile(c.Chain)
		if err != nil {
			return err
		}
		if chain, err = draw.ReadChain(info); err != nil {
			return err
		}
	}
	var doc draw.Published
	if err := readJSON(c.Draw, &doc); err != nil {
		return err
	}
	if c.Rival != "" {
		return c.verifyRival(&doc, out)
	}
	// The document names its own signer. Only a key that the visitor knows from elsewhere proves
	// that the signer is the operator.
	if len(c.Signer) > 0 && string(c.Signer) != string(doc.Signer) {
		return fmt.Errorf("the document is signed by %x, not by the key that you named", doc.Signer)
	}
	verified, err := doc.Verify(chain)
	if err != nil {
		return err
	}
	s := &doc.Statement
	fmt.Fprintf(out, "draw %d of %s: %d entries (%d by address, %d by account), signed by %x\n",
		s.Draw, s.Event, s.Count, s.ByClass[draw.ClassAddress], s.ByClass[draw.ClassAccount], doc.Signer)
	fmt.Fprintf(out, "beacon: round %d of %s, the first 120 s after the closing\n", s.Rules.Round, s.Rules.Chain)
	// A test beacon's owner can know the round beforehand and so choose the order.
	if chain.Test || s.TestBeacon {
		fmt.Fprintln(out, "TEST BEACON: its owner knew the round beforehand; this order proves nothing")
	}
	if len(c.Signer) == 0 {
		fmt.Fprintln(out, "not checked: whose key it is (--signer)")
	}
	if err := c.verifyWitness(&doc, chain, out); err != nil {
		return err
	}
	if err := c.verifyReceipt(verified, &doc, out); err != nil {
		return err
	}
	return c.verifyLeaves(verified, out)
}

// verifyWitness prints when an outside witness saw the statement. That must have been before the
// beacon's round was known. Otherwise the operator could have chosen among several statements.
func (c verifyDrawCmd) verifyWitness(doc *draw.Published, chain *draw.Chain, out io.Writer) error {
	if doc.Witness == nil {
		fmt.Fprintln(out, "not checked: when the root was published, for no witness has seen it; compare the one that your page kept")
		return nil
	}
	var roots *x509.CertPool
	if c.Witness != "" {
		text, err := os.ReadFile(c.Witness)
		if err != nil {
			return err
		}
		if roots = x509.NewCertPool(); !roots.AppendCertsFromPEM(text) {
			return fmt.Errorf("%s has no certificate", c.Witness)
		}
	}
	seen, err := witness.Check(doc.Witness, doc.Statement.Digest(), roots)
	if err != nil {
		return err
	}
	round := time.UnixMilli(chain.Time(doc.Statement.Rules.Round))
	if !seen.At.Before(round) {
		return fmt.Errorf("the witness saw the statement at %s, and the round was known from %s on", seen.At.UTC().Format(time.RFC3339), round.UTC().Format(time.RFC3339))
	}
	fmt.Fprintf(out, "witness: %s saw the statement at %s, %s before the round\n", seen.Name, seen.At.UTC().Format(time.RFC3339), round.Sub(seen.At).Truncate(time.Second))
	if roots == nil {
		fmt.Fprintln(out, "not checked: who the witness is (--witness)")
	}
	return nil
}

// verifyReceipt prints the place that the draw gave to a receipt. It does nothing if no receipt was
// given.
func (c verifyDrawCmd) verifyReceipt(v *draw.Verified, doc *draw.Published, out io.Writer) error {
	if c.Receipt == "" {
		return nil
	}
	receipt, err := draw.ParseReceipt(c.Receipt)
	if err != nil {
		return err
	}
	if c.Proof == "" {
		return fmt.Errorf("a receipt needs its proof: ask the service for that of the leaf %s, and name the file with --proof", receipt.Leaf)
	}
	var in draw.Inclusion
	if err := readJSON(c.Proof, &in); err != nil {
		return err
	}
	place, err := v.PlaceOf(&receipt, ed25519.PublicKey(doc.Signer), in.Index, in.Proof)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "receipt: entry %d of %d has the place %d\n", in.Index+1, doc.Statement.Count, place+1)
	return nil
}

// verifyLeaves prints the place of every entry, in the order of the leaves. It does nothing if no list of leaves was
// given, and returns an error if the list is not the draw's list.
func (c verifyDrawCmd) verifyLeaves(v *draw.Verified, out io.Writer) error {
	if c.Leaves == "" {
		return nil
	}
	file, err := os.Open(c.Leaves)
	if err != nil {
		return err
	}
	defer file.Close()
	var leaves []draw.Hash
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var leaf draw.Hash
		if err := leaf.UnmarshalText(lines.Bytes()); err != nil {
			return fmt.Errorf("line %d of %s: %w", len(leaves)+1, c.Leaves, err)
		}
		leaves = append(leaves, leaf)
	}
	places, err := v.Places(leaves)
	if err != nil {
		return err
	}
	text := bufio.NewWriter(out)
	for index, place := range places {
		fmt.Fprintf(text, "place %d: entry %d\n", place+1, index+1)
	}
	return text.Flush()
}

// verifyRival proves that an operator has cheated: two documents of one draw are signed by the same
// key and differ. It returns an error if they do not contradict each other.
func (c verifyDrawCmd) verifyRival(doc *draw.Published, out io.Writer) error {
	var other draw.Published
	if err := readJSON(c.Rival, &other); err != nil {
		return err
	}
	// Both signatures must be valid, or anybody could make up the second document.
	for _, d := range []*draw.Published{doc, &other} {
		if err := draw.VerifyStatement(ed25519.PublicKey(d.Signer), &d.Statement, d.Signature); err != nil {
			return err
		}
	}
	if string(doc.Signer) != string(other.Signer) || !draw.AreRival(&doc.Statement, &other.Statement) {
		return fmt.Errorf("the two documents do not contradict each other")
	}
	fmt.Fprintf(out, "FRAUD: the key %x has signed two statements of draw %d of %s\n", doc.Signer, doc.Statement.Draw, doc.Statement.Event)
	return nil
}

// readJSON reads a document from a file. The file has the document itself, or the answer of the
// service with the document as its data.
func readJSON(path string, to any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var answer struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(text, &answer); err == nil && answer.Data != nil {
		text = answer.Data
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
