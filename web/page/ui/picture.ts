// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A figure as a picture of its own: its drawings with the styles they have on the page, or, where it is made of matrices,
// these drawn as they stand there.

import { brief } from './format';
import type { Table } from './table';

const NS = 'http://www.w3.org/2000/svg';
const STYLES = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-linecap',
  'stroke-linejoin',
  'stroke-opacity',
  'opacity',
  'fill-opacity',
  'font-family', // one by one: the shorthand is empty beside tabular figures
  'font-size',
  'font-style',
  'font-weight',
  'text-anchor',
  'dominant-baseline',
  'letter-spacing',
  'visibility',
  'display',
  'paint-order',
];

/// SVG text.
export function pictureOf(figure: HTMLElement, tables: readonly Table[]): string {
  const drawings = [...figure.querySelectorAll<SVGSVGElement>('.figure-body svg')];
  const svg = drawings.length > 0 ? stacked(drawings) : ofMatrices(figure, tables);
  return new XMLSerializer().serializeToString(svg);
}

export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const SCALE = 2;
  const canvas = document.createElement('canvas');
  canvas.width = SCALE * image.width;
  canvas.height = SCALE * image.height;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('PNG'))), 'image/png');
  });
}

function sheet(width: number, height: number): SVGSVGElement {
  const svg = document.createElementNS(NS, 'svg');
  const page = getComputedStyle(document.documentElement);
  for (const [name, value] of Object.entries({ xmlns: NS, width, height, viewBox: `0 0 ${width} ${height}` })) {
    svg.setAttribute(name, String(value));
  }
  svg.append(shape('rect', { width, height, fill: page.getPropertyValue('--paper') }));
  return svg;
}

function shape(name: string, attributes: Record<string, string | number>, text = ''): SVGElement {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.textContent = text;
  return element;
}

const MARGIN = 16;

function stacked(drawings: readonly SVGSVGElement[]): SVGSVGElement {
  const boxes = drawings.map((drawing) => drawing.getBoundingClientRect());
  const width = Math.max(...boxes.map((box) => box.width)) + 2 * MARGIN;
  const height = boxes.reduce((sum, box) => sum + box.height + MARGIN, MARGIN);
  const svg = sheet(width, height);
  let y = MARGIN;
  drawings.forEach((drawing, i) => {
    const copy = styled(drawing) as SVGSVGElement;
    const { width, height } = boxes[i] as DOMRect;
    for (const [key, value] of Object.entries({ x: MARGIN, y, width, height })) copy.setAttribute(key, String(value));
    if (!copy.hasAttribute('viewBox')) copy.setAttribute('viewBox', `0 0 ${width} ${height}`);
    svg.append(copy);
    y += height + MARGIN;
  });
  return svg;
}

/// A copy that needs no style sheet.
function styled(element: SVGElement): SVGElement {
  const copy = element.cloneNode(false) as SVGElement;
  const style = getComputedStyle(element);
  copy.removeAttribute('class');
  copy.setAttribute('style', STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(';'));
  for (const child of element.childNodes) {
    copy.append(child instanceof SVGElement ? styled(child) : child.cloneNode(true));
  }
  return copy;
}

/// The grids of the figure at their places, with the colours they have there.
function ofMatrices(figure: HTMLElement, tables: readonly Table[]): SVGSVGElement {
  const body = figure.querySelector('.figure-body') as HTMLElement;
  const frame = body.getBoundingClientRect();
  const svg = sheet(Math.ceil(frame.width) + 2 * MARGIN, Math.ceil(frame.height) + 2 * MARGIN);
  const place = (element: Element) => {
    const box = element.getBoundingClientRect();
    return { x: box.x - frame.x + MARGIN, y: box.y - frame.y + MARGIN, width: box.width, height: box.height };
  };
  const text = (element: HTMLElement, content: string): void => {
    const { x, y, width, height } = place(element);
    const style = getComputedStyle(element);
    const start = ['start', 'left'].includes(style.textAlign);
    const attributes = {
      x: start ? x : x + width / 2,
      y: y + height / 2,
      'text-anchor': start ? 'start' : 'middle',
      'dominant-baseline': 'central',
      fill: style.color,
      'font-family': style.fontFamily,
      'font-size': style.fontSize,
      'font-weight': style.fontWeight,
    };
    svg.append(shape('text', attributes, content));
  };
  for (const cell of body.querySelectorAll<HTMLElement>('td.cell')) {
    const { backgroundColor } = getComputedStyle(cell);
    svg.append(shape('rect', { ...place(cell), fill: backgroundColor }));
    if (cell.dataset['value'] !== undefined) text(cell, brief(Number(cell.dataset['value'])));
  }
  for (const name of body.querySelectorAll<HTMLElement>('.grid-name b, .grid-name span, th span, th button')) {
    text(name, name.textContent ?? '');
  }
  svg.append(shape('desc', {}, tables.map(({ name }) => name).join(', ')));
  return svg;
}
