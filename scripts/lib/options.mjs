/** Options given as --name=value. */

/**
 * Ends the script with status 2 where it was given anything else: a misspelt option would do the whole work without it.
 * @param {string[]} names '--flag', or '--name=' where a value follows
 */
export function onlyOptions(...names) {
  const given = process.argv.slice(2);
  const unknown = given.find(
    (arg) => !names.some((name) => (name.endsWith('=') ? arg.startsWith(name) : arg === name)),
  );
  if (unknown === undefined) return;
  console.error(`unknown option ${JSON.stringify(unknown)}: expected ${names.join(', ')}`);
  process.exit(2);
}

/** @returns {string} */
export function option(name, fallback) {
  const given = process.argv.find((arg) => arg.startsWith(`--${name}=`));
  return given === undefined ? fallback : given.slice(name.length + 3);
}

/** The folder with plates, sprites and development pairs. @throws Error where none is given */
export function dataFolder() {
  const folder = option('data', process.env.SCENEDELTA_DATA);
  if (folder) return folder;
  throw new Error(
    'no data folder: expected --data=FOLDER or SCENEDELTA_DATA, the folder with plates, sprites and dev_pairs',
  );
}
