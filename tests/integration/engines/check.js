// Whether manifests are what their engines' schemas say: types, names, nothing missing and nothing
// that is not known. Prints each fault after the manifest's name.
//   node check.js MANIFEST...
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Job } from 'kubernetes-models/batch/v1';
import { Workflow } from '@kubernetes-models/argo-workflows/argoproj.io/v1alpha1';
import { parse } from 'yaml';

const kinds = {
	Job: [Job, 'kubernetes-models/batch/v1'],
	Workflow: [Workflow, '@kubernetes-models/argo-workflows/argoproj.io/v1alpha1'],
};
const folder = mkdtempSync('literals-');

function check(path) {
	const manifest = parse(readFileSync(path, 'utf8'));
	const [model, from] = kinds[manifest.kind];

	try {
		new model(manifest).validate();
	} catch (error) {
		console.log(`${path}: ${error.message}`);
	}
	// The validators let unknown members pass; the types of a literal do not.
	const source = `${folder}/${path.replace(/.*\//, '')}.ts`;
	writeFileSync(source, `import type { I${manifest.kind} } from '${from}';
export const manifest: I${manifest.kind} = ${JSON.stringify(manifest, null, 1)};\n`);
	return source;
}

const sources = process.argv.slice(2).map(check);
const tsc = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit', '--strict', '--skipLibCheck',
	'--module', 'nodenext', '--moduleResolution', 'nodenext', '--target', 'es2022', ...sources]);
process.stdout.write(tsc.stdout);
rmSync(folder, { recursive: true });
