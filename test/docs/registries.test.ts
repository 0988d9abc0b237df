/** Files that registries and agents read: server.json (MCP registry) and llms.txt (llmstxt.org). */
import { existsSync, readFileSync } from 'node:fs';

const json = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

describe('server.json', () => {
  const server = json('server.json');
  const { name, version, mcpName } = json('package.json');

  it('fits the required members and limits of its schema', () => {
    expect(server.$schema).toMatch(
      /^https:\/\/static\.modelcontextprotocol\.io\/schemas\/[\d-]+\/server\.schema\.json$/,
    );
    expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    expect(server.description.length).toBeLessThanOrEqual(100);
    for (const one of server.packages) {
      expect(one).toMatchObject({ registryType: 'npm', transport: { type: 'stdio' } });
      // The runtime is not named: nothing may fetch the name before it is published.
      expect(one).not.toHaveProperty('runtimeHint');
    }
  });

  it('names this package and its version, and the package names it, as the registry demands', () => {
    expect(server).toMatchObject({ version, packages: [{ identifier: name, version }] });
    expect(mcpName).toBe(server.name);
  });

  it('starts a command with options that it has', () => {
    const [command, ...options] = server.packages[0].packageArguments;
    expect(command).toEqual({ type: 'positional', value: 'mcp' });
    const source = readFileSync('clients/src/command.ts', 'utf8');
    for (const option of options) expect(source).toContain(`'${option.name} <`);
  });
});

describe('llms.txt', () => {
  const text = readFileSync('llms.txt', 'utf8');

  it('has a title, a summary, then lists of links to existing files', () => {
    expect(text).toMatch(/^# scenedelta\n\n> /);
    const [, ...sections] = text.split(/^## /m);
    for (const line of sections.flatMap((section) => section.trim().split('\n').slice(2))) {
      const [, path = ''] = /^- \[[^\]]+\]\(([^)]+)\): \S/.exec(line) ?? [];
      expect([line, existsSync(path)]).toEqual([line, true]);
    }
  });
});
