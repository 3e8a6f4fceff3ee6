// Command manifests reads Kubernetes manifests from its input and fails where one
// has a field that its kind does not have, or a value of another type. Kinds that
// are not Kubernetes's own are only named. Unlike other checkers it needs no
// schemas from the network: it decodes into Kubernetes's own types.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

func main() {
	if err := check(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
}

func check(in io.Reader, out io.Writer) error {
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	manifests := yaml.NewYAMLReader(bufio.NewReader(in))
	count := 0
	for {
		text, err := manifests.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		_, kind, err := decoder.Decode(text, nil, nil)
		switch {
		case runtime.IsMissingKind(err):
			continue // nothing but comments
		case runtime.IsNotRegisteredError(err):
			fmt.Fprintln(out, "not checked:", err)
		case err != nil:
			return fmt.Errorf("%w in\n%s", err, text)
		default:
			fmt.Fprintln(out, kind.Kind, "ok")
		}
		count++
	}
	if count == 0 {
		return errors.New("no manifest")
	}
	return nil
}
