#include "CMarkup.h"

#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <stdlib.h>

struct markup {
  xmlDocPtr document;
  xmlNodePtr node;
};

static markup *made(xmlDocPtr document) {
  if (!document) return NULL;
  markup *result = calloc(1, sizeof(markup));
  if (!result) {
    xmlFreeDoc(document);
    return NULL;
  }
  result->document = document;
  return result;
}

markup *markup_html(const char *bytes, int count, const char *encoding) {
  return made(htmlReadMemory(bytes, count, NULL, encoding,
      HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET));
}

markup *markup_xml(const char *bytes, int count) {
  return made(xmlReadMemory(bytes, count, NULL, NULL,
      XML_PARSE_RECOVER | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NONET));
}

void markup_free(markup *document) {
  xmlFreeDoc(document->document);
  free(document);
}

// Without recursion: a page may be nested as deep as its author likes.
static xmlNodePtr successor(xmlNodePtr node) {
  if (node->type == XML_ELEMENT_NODE && node->children) return node->children;
  while (node && node->type != XML_DOCUMENT_NODE && node->type != XML_HTML_DOCUMENT_NODE) {
    if (node->next) return node->next;
    node = node->parent;
  }
  return NULL;
}

int markup_next(markup *document) {
  xmlNodePtr node = document->node ? successor(document->node) : xmlDocGetRootElement(document->document);
  while (node && node->type != XML_ELEMENT_NODE) node = successor(node);
  if (node) document->node = node;
  return node != NULL;
}

const char *markup_name(const markup *document) { return (const char *)document->node->name; }

char *markup_text(const markup *document) { return (char *)xmlNodeGetContent(document->node); }

char *markup_attribute(const markup *document, const char *name) {
  return (char *)xmlGetProp(document->node, (const xmlChar *)name);
}

void markup_free_text(char *text) { xmlFree(text); }
