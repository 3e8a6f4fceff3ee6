package learning

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/courses"
)

// TestDesigns prints a certificate of each design, with names in several scripts and as
// long as they may be. With BOXOFFICE_KEEP_PDF they are kept in that folder, to look at.
func TestDesigns(t *testing.T) {
	t.Parallel()
	require.Len(t, designs, 8)
	holders := map[string][2]string{ // whose, and what they have learned
		"cert-1": {"Ada Lovelace", "Notes on the Analytical Engine"},
		"cert-2": {"Александра Константиновна Преображенская-Голенищева", "История русской литературы"},
		"cert-3": {"محمد بن عبد الله", "الرياضيات للمبتدئين"},
		"cert-4": {"श्रीमती कृष्णा शर्मा", "हिन्दी साहित्य का इतिहास"},
		"cert-5": {"王小明", "现代软件工程导论：从设计到部署"},
		"cert-6": {"สมชาย ใจดี", "การถ่ายภาพเบื้องต้น"},
		"cert-7": {strings.Repeat("Maximiliana ", 16), strings.Repeat("A course with a title as long as it may be ", 4)},
		"cert-8": {"김민수", "데이터베이스 입문"},
	}
	for template := range designs {
		pdf, err := printCertificate(&courses.Certificate{
			Template: template, Number: "BX-2026-0001", Name: holders[template][0], Title: holders[template][1],
			Organization: "The Academy of Sciences", IssuedAt: time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC),
		}, "https://tickets.example.org/api/v1/public/certificates/BX-2026-0001")
		require.NoError(t, err)
		require.Equal(t, "%PDF", string(pdf[:4]))
		if folder := os.Getenv("BOXOFFICE_KEEP_PDF"); folder != "" {
			require.NoError(t, os.WriteFile(filepath.Join(folder, template+".pdf"), pdf, 0o600))
		}
	}
}
