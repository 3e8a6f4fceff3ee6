package api

// UploadImage has the parameters and the form's parts of an upload of an image. The image itself is the part
// named file.
type UploadImage struct {
	QueryOrg string `query:"orgId" maxLength:"40" description:"The number of the organization that gets the image, if the caller acts for several. It may stand in the form instead."`
	OrgID    string `part:"orgId" maxLength:"40" description:"The number of the organization that gets the image, if the caller acts for several. It may stand in the query instead."`
	Kind     string `part:"kind" format:"id" maxLength:"50" default:"event-cover" description:"What the image is for, such as event-cover or event-gallery. It is kept with the image and changes nothing."`
}

// UploadFile has the parameters and the form's parts of an upload of a file. The file itself is the part
// named file.
type UploadFile struct {
	QueryOrg string `query:"orgId" maxLength:"40" description:"The number of the organization that gets the file, if the caller acts for several. It may stand in the form instead."`
	OrgID    string `part:"orgId" maxLength:"40" description:"The number of the organization that gets the file, if the caller acts for several. It may stand in the query instead."`
	Field    string `part:"field" enum:"pdf,video" description:"What the file must be. Without it any type that is taken will do, but a video then has the limit of a document."`
	Private  string `part:"private" enum:"0,1" default:"0" description:"1 is paid content, served to the organization and through links of some minutes alone; 0 is for everybody."`
}

// GetMedia asks for a file, or for an image in its usual size and format.
type GetMedia struct {
	ID string `path:"id" format:"id" maxLength:"128" description:"The file's number, the mediaId of its upload."`
	MediaLink
}

// GetMediaVariant asks for an image in another size or format.
type GetMediaVariant struct {
	ID      string `path:"id" format:"id" maxLength:"128" description:"The image's number, the mediaId of its upload."`
	Variant string `path:"variant" format:"id" maxLength:"40" description:"The size and format: web, thumbnail or og, followed by .webp or .jpg."`
	MediaLink
}

// MediaLink holds the parameters of a link to a private file. They prove that we made the link, and say when
// it ends.
type MediaLink struct {
	Expires   int64  `query:"exp" minimum:"0" maximum:"99999999999" description:"When the link to a private file ends, in unix seconds. A link has it already."`
	Signature string `query:"sig" maxLength:"200" description:"What proves that we made the link to a private file. A link has it already."`
}

// Image is the answer to the upload of an image.
type Image struct {
	MediaID    int64         `json:"mediaId" description:"The image's number."`
	PrimaryURL string        `json:"primaryUrl" description:"The image as /media/<mediaId>; give it wherever an address of an image is asked for."`
	Variants   ImageVariants `json:"variants" description:"The sizes in which the image was kept. What was sent is not."`
}

// ImageVariants are the sizes in which an image is kept. Web and Thumbnail are never larger than what was
// sent; OG always has its full size.
type ImageVariants struct {
	Web       ImageVariant `json:"web" description:"For pages: up to 2048 x 2048 pixels."`
	Thumbnail ImageVariant `json:"thumbnail" description:"For lists: up to 400 x 400 pixels."`
	OG        ImageVariant `json:"og" description:"For previews: 1200 x 630 pixels, cut from the middle."`
}

// ImageVariant is an image in one size, in two formats.
type ImageVariant struct {
	WebP   string `json:"webp" description:"The path of the WebP, relative to the root."`
	JPEG   string `json:"jpeg" description:"The path of the JPEG, relative to the root."`
	Width  int    `json:"width" description:"Its width in pixels."`
	Height int    `json:"height" description:"Its height in pixels."`
}

// Media is the answer to the upload of a file.
type Media struct {
	MediaID    int64  `json:"mediaId" description:"The file's number."`
	PrimaryURL string `json:"primaryUrl" description:"The file as /media/<mediaId>; give it wherever an address of a file is asked for."`
	Filename   string `json:"filename" description:"The file's name as it was sent, without folders and control characters."`
	Bytes      int64  `json:"bytes" description:"Its size in bytes."`
	MIME       string `json:"mime" description:"The media type as which it is kept and served."`
}
