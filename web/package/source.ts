// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Where a module comes from, in Node and in browsers.

import { EngineError } from '../engine/arguments.js';
import { choose } from '../engine/engine.js';
import { checkNames, refusal } from './check.js';

type Bytes = string | URL | ArrayBuffer | ArrayBufferView | Response;

/** A module: where it lies, its bytes, a fetched response, or the module itself. */
export type Source = Bytes | WebAssembly.Module;

/** Two modules of one engine; what is left out lies beside this package. `relaxed: false`: the strict one anywhere. */
export interface Sources {
  strict?: Source;
  relaxed?: Source | false;
}

const EXPECTED = 'a URL, bytes, a Response or a WebAssembly.Module';

/// Node's fetch knows no file: URLs. A name that bundlers do not follow: browsers have no such module.
async function readFile(url: URL): Promise<BufferSource> {
  const name = 'node:fs/promises';
  const fs = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as {
    readFile(url: URL): Promise<Uint8Array<ArrayBuffer>>;
  };
  return fs.readFile(url);
}

async function bytesOf(source: Bytes): Promise<BufferSource> {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source as BufferSource;
  if (source instanceof Response) return bytesOfResponse(source);
  const url = new URL(source, globalThis.location?.href ?? import.meta.url);
  const isNode = 'process' in globalThis && !('window' in globalThis);
  if (url.protocol === 'file:' && isNode) return readFile(url);
  return bytesOfResponse(await fetch(url));
}

async function bytesOfResponse(response: Response): Promise<ArrayBuffer> {
  if (!response.ok) throw new EngineError(`${response.url}: HTTP status ${response.status}`);
  return response.arrayBuffer(); // whatever type the server says it has
}

async function compiled(source: Source): Promise<WebAssembly.Module> {
  return source instanceof WebAssembly.Module ? source : WebAssembly.compile(await bytesOf(source as Bytes));
}

function checkSource(name: string, source: unknown, expected: string): void {
  const known = [ArrayBuffer, URL, Response, WebAssembly.Module].some((type) => source instanceof type);
  if (!known && typeof source !== 'string' && !ArrayBuffer.isView(source)) throw refusal(name, source, expected);
}

function isSources(source: Source | Sources): source is Sources {
  return typeof source === 'object' && source !== null && Object.getPrototypeOf(source) === Object.prototype;
}

/// The module that init was asked for, by what is beside the package where nothing is said.
export async function moduleOf(
  source: Source | Sources,
  beside: { strict: URL; relaxed: URL },
): Promise<WebAssembly.Module> {
  if (!isSources(source)) {
    checkSource('source', source, `${EXPECTED}, or { strict, relaxed } of these`);
    return compiled(source);
  }
  checkNames('source', source, ['strict', 'relaxed'], `${EXPECTED}, or { strict, relaxed } of these`);
  const { strict = beside.strict, relaxed = beside.relaxed } = source;
  checkSource('strict', strict, EXPECTED);
  if (relaxed === false) return compiled(strict);
  checkSource('relaxed', relaxed, `${EXPECTED}; false for none, left out for the package's`);
  return choose(
    () => compiled(strict),
    () => compiled(relaxed),
  );
}
