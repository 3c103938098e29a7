// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A project that has the package installed from its tarball, and nothing else.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const npm = new URL('../../../build/npm/', import.meta.url).pathname;
const tarball = join(
  npm,
  readdirSync(npm).find((name) => name.endsWith('.tgz')),
);

export const project = mkdtempSync(join(tmpdir(), 'foveate-npm-'));
process.on('exit', () => rmSync(project, { recursive: true, force: true }));
writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', tarball], { cwd: project });
writeFileSync(join(project, 'all.js'), "export * from 'foveate'; export * from 'foveate/gradients';");

export const installed = join(project, 'node_modules', 'foveate');
export const foveate = await import(join(project, 'all.js'));

/// The code of the package's README, block by block in one module.
export function readme() {
  const text = readFileSync(join(installed, 'README.md'), 'utf8');
  return [...text.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code).join('\n');
}
