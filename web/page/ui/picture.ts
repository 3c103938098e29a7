// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A figure as a picture of its own: its matrices and drawings at their places, with the colours they have on the page.

import { brief } from './format';
import type { Table } from './table';

const NS = 'http://www.w3.org/2000/svg';
const MARGIN = 16;
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
/// What stands as text about matrices.
const TEXTS = '.grid-name b, .grid-name span, th span, th button, .sign, h3';

/// SVG text.
export function pictureOf(figure: HTMLElement, tables: readonly Table[]): string {
  const body = figure.querySelector<HTMLElement>('.figure-body');
  if (!body) throw new Error('a figure without a body');
  const picture = new Picture();
  for (const cell of body.querySelectorAll<HTMLElement>('td.cell')) picture.cell(cell);
  for (const text of body.querySelectorAll<HTMLElement>(TEXTS)) picture.text(text, plain(text) + arrow(text));
  for (const drawing of body.querySelectorAll<SVGSVGElement>('svg')) picture.drawing(drawing);
  return new XMLSerializer().serializeToString(picture.sheet(tables.map(({ name }) => name).join(', ')));
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

/// A formula on one line: √d_k, Kᵀ.
function plain(node: Node): string {
  const inner = (): string[] => [...node.childNodes].map(plain);
  switch (node.nodeName.toLowerCase()) {
    case 'msqrt':
      return `√${inner().join('')}`;
    case 'msub':
      return inner().join('_');
    case 'msup':
      return inner().join('').replace(/T$/, 'ᵀ');
    case '#text':
      return node.textContent ?? '';
    default:
      return node instanceof HTMLElement && node.classList.contains('heard') ? '' : inner().join('');
  }
}

/// An axis name's arrow is the style sheet's.
function arrow(element: HTMLElement): string {
  return element.classList.contains('axis-down') ? ' ↓' : element.classList.contains('axis-across') ? ' →' : '';
}

type Attributes = Record<string, string | number>;

function shape(name: string, attributes: Attributes, text = ''): SVGElement {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.textContent = text;
  return element;
}

/// Shapes at their places in the window, and how far they reach.
class Picture {
  private readonly shapes: SVGElement[] = [];
  private left = Infinity;
  private top = Infinity;
  private right = -Infinity;
  private bottom = -Infinity;

  cell(cell: HTMLElement): void {
    const { x, y, width, height } = this.reach(cell);
    const fill = getComputedStyle(cell).backgroundColor;
    const byHand = cell.classList.contains('pinned') ? { stroke: 'currentColor', 'stroke-dasharray': '4 3' } : {};
    this.shapes.push(shape('rect', { x, y, width, height, fill, ...byHand }));
    const value = cell.dataset['value'];
    if (value !== undefined) this.text(cell, brief(Number(value)));
  }

  text(element: HTMLElement, content: string): void {
    const { x, y, width, height } = this.reach(element);
    const style = getComputedStyle(element);
    const start = ['start', 'left'].includes(style.textAlign);
    const end = ['end', 'right'].includes(style.textAlign);
    const attributes = {
      x: start ? x : end ? x + width : x + width / 2,
      y: y + height / 2,
      'text-anchor': start ? 'start' : end ? 'end' : 'middle',
      'dominant-baseline': 'central',
      fill: style.color,
      'font-family': style.fontFamily,
      'font-size': style.fontSize,
      'font-weight': style.fontWeight,
    };
    this.shapes.push(shape('text', attributes, content));
  }

  drawing(drawing: SVGSVGElement): void {
    const { x, y, width, height } = this.reach(drawing);
    const copy = styled(drawing);
    for (const [key, value] of Object.entries({ x, y, width, height })) copy.setAttribute(key, String(value));
    if (!copy.hasAttribute('viewBox')) copy.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.shapes.push(copy);
  }

  sheet(about: string): SVGElement {
    const [x, y] = [this.left - MARGIN, this.top - MARGIN];
    const [width, height] = [this.right - x + MARGIN, this.bottom - y + MARGIN].map(Math.ceil) as [number, number];
    const svg = shape('svg', { xmlns: NS, width, height, viewBox: `${x} ${y} ${width} ${height}` });
    const fill = getComputedStyle(document.documentElement).getPropertyValue('--paper');
    svg.append(shape('desc', {}, about), shape('rect', { x, y, width, height, fill }), ...this.shapes);
    return svg;
  }

  private reach(element: Element): DOMRect {
    const box = element.getBoundingClientRect();
    this.left = Math.min(this.left, box.left);
    this.top = Math.min(this.top, box.top);
    this.right = Math.max(this.right, box.right);
    this.bottom = Math.max(this.bottom, box.bottom);
    return box;
  }
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
