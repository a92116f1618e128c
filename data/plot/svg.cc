// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "spruce/data/plot/drawing.h"

namespace spruce::data::internal {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

std::string colour_text(Colour colour) {
  char out[16];
  std::snprintf(out, sizeof out, "\"#%06x\"", static_cast<unsigned>(colour & kWhite));
  return out;
}

std::string svg_of(const Line& l) {
  const std::string to = l.y1 == l.y2 ? "H" + text_of(l.x2) : "V" + text_of(l.y2);
  return "<path d=\"M" + text_of(l.x1) + " " + text_of(l.y1) + to +
         "\" stroke=" + colour_text(l.colour) + "/>\n";
}

std::string svg_of(const Polyline& p) {
  std::string path;
  for (const auto& run : p.runs) {
    char pen = 'M';
    for (const auto& [x, y] : run) {
      path += pen + text_of(x) + " " + text_of(y);
      pen = 'L';
    }
  }
  return "<path d=\"" + path + "\" fill=\"none\" stroke=" + colour_text(p.colour) +
         " stroke-width=\"1.5\"/>\n";
}

std::string svg_of(const Box& b) {
  return "<rect x=\"" + text_of(b.x) + "\" y=\"" + text_of(b.y) + "\" width=\"" + text_of(b.width) +
         "\" height=\"" + text_of(b.height) + "\" fill=" + colour_text(b.colour) +
         " fill-opacity=\"" + text_of(b.opacity) + "\" stroke=" + colour_text(kPaleGrey) + "/>\n";
}

std::string svg_of(const Label& l) {
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  const std::string place = text_of(l.x) + "\" y=\"" + text_of(l.y);
  std::string more;
  if (l.colour != kBlack) more += " fill=" + colour_text(l.colour);
  if (l.upward) more += " transform=\"rotate(-90 " + text_of(l.x) + " " + text_of(l.y) + ")\"";
  return "<text x=\"" + place + "\" text-anchor=\"" + kAnchors[l.anchor] + "\"" + more + ">" +
         escaped(l.text) + "</text>\n";
}

}  // namespace

std::string text_of(double x) {
  char out[32];
  std::snprintf(out, sizeof out, "%.6g", x);
  return out;
}

std::string svg_around(double width, double height, const std::string& body) {
  const std::string size = text_of(width) + "\" height=\"" + text_of(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size +
         "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"" + size +
         "\" fill=\"white\"/>\n" + body + "</svg>\n";
}

std::string svg_of(const Drawing& drawing) {
  std::string body;
  for (const auto& part : drawing.parts)
    body += std::visit([](const auto& p) { return svg_of(p); }, part);
  return svg_around(drawing.width, drawing.height, body);
}

}  // namespace spruce::data::internal
