// The elements of an HTML or XML document, read by libxml2. The headers of libxml2 stay out of Swift: they bring another
// version of ICU's types than Foundation has.
#ifndef CMARKUP_H
#define CMARKUP_H

typedef struct markup markup;

// Reads a document, whatever it is made of; nothing is fetched. NULL if nothing can be read.
markup *markup_html(const char *bytes, int count, const char *encoding);
markup *markup_xml(const char *bytes, int count);
void markup_free(markup *document);

// Goes to the next element in the order of the document, first to the root; 0 at the end.
int markup_next(markup *document);

// The name of the current element.
const char *markup_name(const markup *document);
// The text of the current element and its descendants; to be freed with markup_free_text.
char *markup_text(const markup *document);
// The value of an attribute of the current element, or NULL; to be freed with markup_free_text.
char *markup_attribute(const markup *document, const char *name);
void markup_free_text(char *text);

#endif
